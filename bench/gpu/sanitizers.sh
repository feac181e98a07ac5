#!/usr/bin/env bash
# One rank's kernels under compute-sanitizer: memcheck, racecheck, synccheck, initcheck, each collective by packets
# and by chunks, results checked. usage: bench/gpu/sanitizers.sh OUT [PURLIN-COMMAND]
# Writes OUT/sanitizers.jsonl, a verdict a line, and OUT/sanitizers.log. SECONDS_EACH (60) and SECONDS_ALL (540) bound it;
# COMPUTE_SANITIZER names the tool; DEVICE=host rehearses with CPU ranks. Exit status 1: a run found something or did not end.
set -uo pipefail
out=${1:?usage: bench/gpu/sanitizers.sh OUT [PURLIN-COMMAND]}
purlin=${2:-build/release/bin/purlin}
device=${DEVICE:-cuda}
limit=${SECONDS_EACH:-60}
end=$((SECONDS + ${SECONDS_ALL:-540}))
sanitizer=${COMPUTE_SANITIZER:-$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)}
[[ -x $sanitizer ]] || { echo "sanitizers.sh: $sanitizer is not there; name it in COMPUTE_SANITIZER" >&2; exit 2; }
mkdir -p "$out"
: >"$out/sanitizers.jsonl"
: >"$out/sanitizers.log"
bad=0 clean=0 skipped=0

# check TOOL COLLECTIVE PATH SIZE
check() {
  local arguments=("$2" -n 3 --alone 1 --device "$device" --path "$3" -b "$4" -e "$4" --check --iters 1 --warmup 0)
  [[ $device == cuda ]] && arguments+=(--eager)
  local verdict=clean status=0
  if ((SECONDS >= end)); then
    verdict='no time left'
    skipped=$((skipped + 1))
  else
    echo "== $1 ${arguments[*]}" >>"$out/sanitizers.log"
    timeout "$limit" "$sanitizer" --tool "$1" --error-exitcode 99 "$purlin" perf "${arguments[@]}" >>"$out/sanitizers.log" 2>&1 ||
      status=$?
    case $status in
      0) clean=$((clean + 1)) ;;
      124) verdict="not ended in $limit s" bad=$((bad + 1)) ;;
      99) verdict='errors, see the log' bad=$((bad + 1)) ;;
      *) verdict="exit status $status, see the log" bad=$((bad + 1)) ;;
    esac
  fi
  printf '{"tool": "%s", "arguments": "perf %s", "verdict": "%s"}\n' "$1" "${arguments[*]}" "$verdict" >>"$out/sanitizers.jsonl"
  [[ $verdict == clean ]] || echo "$1 $2 $3: $verdict"
}

for collective in all_reduce all_gather reduce_scatter all_to_all broadcast; do
  for tool in memcheck racecheck synccheck initcheck; do
    check $tool $collective latency 12KiB
    check $tool $collective throughput 384KiB
  done
done
echo "sanitizers.sh: $clean runs clean, $bad not, $skipped left out for time; $out/sanitizers.jsonl"
((bad == 0))
