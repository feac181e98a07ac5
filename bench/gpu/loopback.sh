#!/usr/bin/env bash
# Collectives of several ranks on one GPU, which copy within its memory: a baseline for the protocols
# and the Atoms, not a figure for links. usage: bench/gpu/loopback.sh OUT [PURLIN-COMMAND]
# Writes OUT/loopback.jsonl (one document of `purlin perf --json` a line, with Atom and driver). About four
# minutes. What creation, memory and launches cost: costs.py.
set -euo pipefail
out=${1:?usage: bench/gpu/loopback.sh OUT [PURLIN-COMMAND]}
purlin=${2:-build/release/bin/purlin}
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
driver=$(nvidia-smi --query-gpu=name,driver_version,clocks.sm --format=csv,noheader | head -1)
: >"$out/loopback.jsonl"

# row ATOM perf-arguments…: one run, its document with what perf does not know.
row() {
  local atom=$1
  shift
  printf 'version: 1\nname: loopback\nmatch: {kind: cuda}\ndatapath: {prefer: [%s]}\ncrossover: 512KiB\n' "$atom" >"$work/policy.yaml"
  printf 'one_shot_limit: {default: 4KiB, rows: [{ranks: 1..2, value: 256KiB}, {ranks: 3..8, value: 16KiB}]}\n' >>"$work/policy.yaml"
  printf 'staging: {latency_bytes: 4MiB, throughput_bytes: 32MiB}\n' >>"$work/policy.yaml"
  printf 'programs: [{kind: copy}, {kind: reduce, dtypes: [f32, bf16], ops: [sum]}]\n' >>"$work/policy.yaml"
  if ! timeout 90 "$purlin" perf "$@" --device cuda --check --timeout 10 --policy "$work/policy.yaml" \
    --json "$work/row.json" >"$work/text" 2>&1; then
    echo "failed: $atom $*" >&2
    tail -3 "$work/text" >&2
    return
  fi
  python3 - "$work/row.json" "$atom" "$driver" "$*" >>"$out/loopback.jsonl" <<'PY'
import json, sys
document = json.load(open(sys.argv[1]))
document.update(atom=sys.argv[2], gpu_driver_clock=sys.argv[3], arguments=sys.argv[4])
print(json.dumps(document))
PY
}

for n in 2 8; do
  for collective in all_reduce all_gather reduce_scatter all_to_all broadcast all_to_all_v send_recv; do
    row generic $collective -n $n -b 1KiB -e 256MiB -f 4
  done
  row generic all_reduce -n $n -b 8 -e 512KiB -f 4 --eager
  row generic barrier -n $n
  for atom in hopper ampere; do
    for collective in all_reduce all_gather reduce_scatter all_to_all; do
      row $atom $collective -n $n -b 256KiB -e 256MiB -f 4 --path throughput
    done
  done
done
# One rank alone: the kernel with its epoch and no peer, against which a call's packets are counted.
row generic all_reduce -n 1 -b 8 -e 512KiB -f 4
row generic barrier -n 1
