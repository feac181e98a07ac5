#!/usr/bin/env bash
# From an installed Purlin and an empty folder to a collective on an Atom of one's own. Purlin's bin folder is on
# PATH; if it is not installed in /usr, CMAKE_PREFIX_PATH names its prefix. $1 is the folder of this file.
set -euo pipefail

cp "$1"/{CMakeLists.txt,*.cc,*.cu,*.version,*.yaml} .
cmake -B build -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER="${CC:-cc}" -DCMAKE_CXX_COMPILER="${CXX:-c++}"
cmake --build build
mkdir plugins
cp build/libatom-*.so plugins
purlin plugins --device host --policy policy.yaml
purlin check plugins/libatom-vendor-host.so
purlin perf all_reduce --check --device host --policy policy.yaml -e 1MiB
