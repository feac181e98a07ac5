# Ranks as threads, as in the folder above.
target_sources(${name} PRIVATE ${folder}/../ranks.cc)
