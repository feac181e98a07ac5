# Toy images: small enough that nvcc takes a second for each.
set(images ${folder}/images)
purlin_device_image(TARGET ${name} TABLE toy_core SOURCE ${images}/toy_core.cu ROLE core BASES 75)
purlin_device_image_table(TARGET ${name} TABLE toy_core)
purlin_device_image(TARGET ${name} TABLE toy_atom SOURCE ${images}/toy_atom.cu ROLE core
                    BASES 75 80 90 90a 100 100f)
purlin_device_image(TARGET ${name} TABLE toy_atom SOURCE ${images}/toy_reduction.cu ROLE reduction
                    DTYPES f32 BASES 75 80 90 100)
purlin_device_image_table(TARGET ${name} TABLE toy_atom)
