#!/usr/bin/env bash
# Installs NVIDIA's disassembler for the tests that look at machine code, from PyPI into
# build/disassembler. Those tests use it when it is there, else an nvdisasm on PATH, else they say
# that they skip.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=$root/build/disassembler
if [[ -x $folder/nvdisasm ]]; then
  echo "Disassembler: $folder/nvdisasm is there."
  exit
fi
mkdir -p "$folder"
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'nvidia-cuda-nvdisasm>=13,<14'
found=$(find "$folder/venv" -type f -name nvdisasm -perm -u+x | head -n 1)
if [[ -z $found ]]; then
  echo "Disassembler: the package holds no program nvdisasm" >&2
  exit 1
fi
ln -sf "$found" "$folder/nvdisasm"
echo "Disassembler: $folder/nvdisasm"
