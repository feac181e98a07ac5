#!/usr/bin/env bash
# The test command. Level quick by default; --full runs the products instead of pairs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source scripts/packages.sh

usage() {
  echo "usage: ./test.sh [--full] [--seed N]
  --full     level full: every product of the sweeps, and all CPU tests under the sanitizers
  --seed N   start of every random sequence (default: today's date, or PURLIN_TEST_SEED)
Builds the presets release, tsan and asan; runs the tests labelled cpu and link, those labelled gpu
and multigpu where there is a GPU, and those labelled sanitize under ThreadSanitizer and
AddressSanitizer. Ends with the numbers of tests, swept cases, and skips with their reasons."
}

level=quick
seed=${PURLIN_TEST_SEED:-$(date -u +%Y%m%d)}
while [[ $# != 0 ]]; do
  case $1 in
    --full) level=full ;;
    --seed) seed=${2:?--seed needs a number}; shift ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
  shift
done
export PURLIN_TEST_LEVEL=$level PURLIN_TEST_SEED=$seed
timeout=300
[[ $level == full ]] && timeout=3600

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
passed=0 failed=0 launcher=()
: >"$logs/all"

say() { printf '\n== [%4ds] %s\n' "$SECONDS" "$*"; }

# run_tests PRESET ctest-arguments…: counts, and goes on after a failure.
run_tests() {
  local build=build/$1 summary
  shift
  "${launcher[@]}" ctest --test-dir "$build" --output-on-failure --no-tests=error --timeout "$timeout" \
    --parallel "$(nproc)" "$@" | tee "$logs/run" || true
  summary=$(grep -E 'tests passed, [0-9]+ tests failed out of [0-9]+' "$logs/run" || true)
  if [[ ! $summary =~ ,\ ([0-9]+)\ tests\ failed\ out\ of\ ([0-9]+) ]]; then
    echo "No test ran in $build with: $*" >&2
    failed=$((failed + 1))
    return
  fi
  failed=$((failed + BASH_REMATCH[1]))
  passed=$((passed + BASH_REMATCH[2] - BASH_REMATCH[1]))
  cat "$build/Testing/Temporary/LastTest.log" >>"$logs/all"
}

say "Level $level, seed $seed (repeat with: ./test.sh$([[ $level == full ]] && echo ' --full') --seed $seed)"
if [[ $level == full ]]; then ensure_packages fuzz; else ensure_packages; fi
# Tests that read machine code say that they skip where it cannot be had.
if command -v nvcc >/dev/null && ! command -v nvdisasm >/dev/null; then
  tests/tools/install_disassembler.sh || echo "No disassembler: see above"
fi

say "Preset release: build"
build_preset release
labels='^(cpu|link)$'
if [[ -e /dev/nvidiactl ]]; then
  labels='^(cpu|link|gpu|multigpu)$'
else
  gpu_tests=$(ctest --test-dir build/release -N -L '^(gpu|multigpu)$' | sed -n 's/^Total Tests: //p')
  for ((i = 0; i < gpu_tests; i++)); do
    echo "SKIP a test labelled gpu or multigpu: this machine has no /dev/nvidiactl" >>"$logs/all"
  done
fi
say "Preset release: tests"
run_tests release -L "$labels"

# ThreadSanitizer of g++ 12 needs address-space randomization off on kernels that use 32 random bits;
# test executables also run while they are built, to list their cases.
setarch "$(uname -m)" -R true 2>/dev/null && launcher=(setarch "$(uname -m)" -R)
# Sanitized code is many times slower: a step less than the plain build's.
export PURLIN_TEST_LEVEL=sample
target=sanitize_tests label=sanitize
[[ $level == full ]] && target=all label=cpu PURLIN_TEST_LEVEL=quick
for preset in tsan asan; do
  say "Preset $preset: build"
  "${launcher[@]}" bash -c 'set -e; source scripts/packages.sh; build_preset "$@"' build_preset \
    "$preset" "$target"
  say "Preset $preset: tests labelled $label"
  run_tests "$preset" -L "^$label\$"
done

say "Result: level $level, seed $seed"
cases=$(sed -n 's/^TOTAL .* cases=\([0-9]*\) .*/\1/p' "$logs/all" | paste -sd+ | sed 's/^$/0/')
skips=$(grep -c '^SKIP ' "$logs/all" || true)
echo "Swept cases: $((cases)). Skips by reason:"
grep '^SKIP ' "$logs/all" | sed 's/^SKIP //' | sort | uniq -c || echo "      none"
echo "$passed passed, $failed failed, $skips skipped"
[[ $failed == 0 ]]
