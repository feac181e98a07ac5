#!/usr/bin/env bash
# From a fresh Debian 12 machine to a first result: installs packages, builds, runs the four basic
# collectives on CPU ranks and checks every element. Safe to run again.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source scripts/packages.sh

if [[ $# != 0 ]]; then
  echo "usage: ./quickstart.sh
Installs the Debian packages it needs (as root or through sudo), builds the preset 'release' with
its tests into build/release, and runs 'purlin perf' for the four basic collectives with every
element checked. A CUDA toolkit is used when nvcc is on PATH, and not needed."
  [[ $1 == -h || $1 == --help ]] && exit 0
  exit 2
fi

say() { printf '\n== %s\n' "$*"; }

say "1/3 Packages"
ensure_packages

say "2/3 Build (preset release, in build/release)"
build_preset release

say "3/3 Collectives on 4 CPU ranks, every element checked"
purlin=build/release/bin/purlin
for collective in all_reduce reduce_scatter all_gather all_to_all; do
  command=("$purlin" perf "$collective" -n 4 -b 1KiB -e 4MiB -f 8 --check)
  printf '\n$ %s\n' "${command[*]}"
  "${command[@]}"
done

cat <<END

All results are right. What to do next:
  $purlin perf --help                        every option of the command just used
  $purlin plugins                            which Atoms were found, and why one was chosen
  $purlin explain all_reduce --bytes 1MiB --ranks 8    what runs for a call, and which policy line decided
  ./test.sh                                             the tests
  README.md                                             a first program; HACKING.md the map of the source
END
