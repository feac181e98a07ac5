#!/usr/bin/env bash
# Runs unmodified nccl-tests over libnccl.so.2 on one GPU that is shown as several, or on real ones.
#   tests/nccl/run_nccl_tests.sh NCCL_TESTS_FOLDER [OUTPUT_FOLDER]
# NCCL_TESTS_FOLDER holds the binaries (all_reduce_perf …), linked to the shared CUDA runtime.
# Writes OUTPUT_FOLDER/summary.json, summary.md and a log for each run; ends with 1 if any run failed or
# had wrong elements. Environment:
#   BUILD        build folder of Purlin (build/release)
#   SHAPES       "|"-separated runs (below: -g 2, -g 8, -t 2, registered, graphs)
#   PROGRAMS     which binaries, without _perf
#   SIZES        sizes and checks (-b 8 -e 64M -f 8 -n 2 -w 1 -c 1)
#   ALL_TYPES    types and operations of reductions (-d all -o all)
#   LIMIT        seconds for one run (300)
#   REAL_GPUS=1  without the preload that shows one device as several
set -uo pipefail
tests=$(cd "${1:?folder of nccl-tests binaries}" && pwd)
out=${2:-nccl-tests-results}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=$(cd "${BUILD:-build/release}" && pwd)
programs=${PROGRAMS:-all_reduce all_gather reduce_scatter alltoall alltoallv sendrecv broadcast reduce gather scatter hypercube}
sizes=${SIZES:--b 8 -e 64M -f 8 -n 2 -w 1 -c 1}
all_types=${ALL_TYPES:--d all -o all}
shapes=${SHAPES:--g 2|-g 8|-t 2 -g 1|-g 2 -R 1|-g 2 -R 2|-g 2 -G 10}
limit=${LIMIT:-300}

preload=$build/lib/libnccl.so.2
if [[ ${REAL_GPUS:-0} != 1 ]]; then
  preload="$build/tests/nccl/libpurlin_several_devices.so $preload"
  # Loading a kernel when it is first launched waits for the device: kernels of other ranks.
  # Streams of several ranks must not meet in one hardware queue, and the program starts the driver
  # before this library could ask for more of them.
  export PURLIN_ALLOW_TURNS=${PURLIN_ALLOW_TURNS:-1} CUDA_MODULE_LOADING=EAGER CUDA_DEVICE_MAX_CONNECTIONS=32
fi
for file in $preload; do
  [[ -f $file ]] || { echo "run_nccl_tests: $file is missing; build the targets purlin_nccl and test_nccl" >&2; exit 2; }
done

: >"$out/rows"
IFS='|' read -ra runs <<<"$shapes"
for shape in "${runs[@]}"; do
  for program in $programs; do
    types=$all_types
    case $program in
      broadcast) types="${all_types% -o *} -r 1" ;;
      reduce) types="$all_types -r 1" ;;
      gather | scatter) types="${all_types% -o *} -r 1" ;;
      all_reduce | reduce_scatter) ;;
      *) types=${all_types% -o *} ;;
    esac
    name=$(tr -d ' -' <<<"${program}_$shape")
    log=$out/$name.log
    start=$EPOCHREALTIME
    # shellcheck disable=SC2086
    LD_PRELOAD="$preload" PURLIN_DEBUG=info timeout "$limit" "$tests/${program}_perf" $shape $sizes $types \
      >"$log" 2>&1
    status=$?
    seconds=$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
    printf '%s\t%s\t%s\t%s\t%s\n' "$program" "$shape" "$status" "$seconds" "$log" >>"$out/rows"
    echo "$program $shape: status $status, $seconds s"
  done
done
python3 -B tests/nccl/summarize_nccl_tests.py "$out"
