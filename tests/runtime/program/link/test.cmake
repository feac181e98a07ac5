# Toy images: small enough that nvcc takes a second for each.
set(images ${folder}/images)
purlin_device_image(TARGET ${name} TABLE toy_core SOURCE ${images}/toy_core.cu ROLE core BASES 75)
purlin_device_image_table(TARGET ${name} TABLE toy_core)
purlin_device_image(TARGET ${name} TABLE toy_atom SOURCE ${images}/toy_atom.cu ROLE core
                    BASES 75 80 90 90a 100 100f)
purlin_device_image(TARGET ${name} TABLE toy_atom SOURCE ${images}/toy_reduction.cu ROLE reduction
                    DTYPES f32 BASES 75 80 90 100)
purlin_device_image_table(TARGET ${name} TABLE toy_atom)
# Parts that must not go together: another device ABI in the names or in the global alone, an Atom
# that asks for a constant nobody gives.
purlin_device_image(TARGET ${name} TABLE toy_misfits SOURCE ${images}/toy_atom.cu ROLE core BASES 75
                    DEFINES TOY_DEVICE_ABI=999)
purlin_device_image(TARGET ${name} TABLE toy_misfits SOURCE ${images}/toy_old_atom.cu ROLE core
                    BASES 75)
purlin_device_image(TARGET ${name} TABLE toy_misfits SOURCE ${images}/toy_curious_atom.cu ROLE core
                    BASES 75)
purlin_device_image_table(TARGET ${name} TABLE toy_misfits)
if(PURLIN_HAVE_CUDA)
  target_compile_definitions(${name} PRIVATE PURLIN_HAVE_CUDA)
  target_include_directories(${name} SYSTEM PRIVATE ${PURLIN_CUDA_HOME}/include)
endif()
