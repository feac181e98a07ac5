#!/usr/bin/env bash
# Everything about N GPUs of one host in one bounded run: correctness, latency and bandwidth against NCCL, the
# drop-in library under nccl-tests and PyTorch. usage: bench/multi.sh N [OPTIONS]; --help tells them and the stages.
set -euo pipefail
# A program that uses the switch's multicast can put GPUs out of service that others share; nothing here needs it.
export NCCL_NVLS_ENABLE=${NCCL_NVLS_ENABLE:-0}
export TORCH_SYMM_MEM_DISABLE_MULTICAST=${TORCH_SYMM_MEM_DISABLE_MULTICAST:-1}
export NVSHMEM_DISABLE_NVLS=${NVSHMEM_DISABLE_NVLS:-1}
exec python3 -B "$(dirname "${BASH_SOURCE[0]}")/multi" "$@"
