# Sourced by quickstart.sh, test.sh and scripts/bench: the Debian packages that building, testing and benches need.
# shellcheck shell=bash
purlin_packages=(
  g++ cmake ninja-build python3 git ca-certificates
  libboost-dev libyaml-cpp-dev libfmt-dev libcli11-dev nlohmann-json3-dev doctest-dev
)
purlin_fuzz_packages=(clang libclang-rt-dev)             # of level full: libFuzzer
purlin_bench_packages=(openmpi-bin libopenmpi-dev python3-matplotlib)  # of scripts/bench and bench/: peers, plots

# ensure_packages [fuzz | bench]: those, and the packages for building.
# Installs what is missing, as root or through sudo. Does nothing, and needs no network, when all is there.
ensure_packages() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "Packages: this is not a Debian system, so nothing is installed. Needed: a C++20 compiler," \
      "CMake 3.25, Ninja, Python 3, Boost 1.74, yaml-cpp 0.7, fmt 9, CLI11 2, nlohmann-json 3.11," \
      "doctest 2.4."
    return
  fi
  local package missing=() as_root=() wanted=("${purlin_packages[@]}")
  case ${1:-} in
    fuzz) wanted+=("${purlin_fuzz_packages[@]}") ;;
    bench) wanted+=("${purlin_bench_packages[@]}") ;;
  esac
  for package in "${wanted[@]}"; do
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
      missing+=("$package")
  done
  if [[ ${#missing[@]} == 0 ]]; then
    echo "Packages: all ${#wanted[@]} are installed."
    return
  fi
  if [[ $(id -u) != 0 ]]; then
    if ! command -v sudo >/dev/null; then
      echo "Packages: ${missing[*]} are missing, and you are neither root nor have sudo." \
        "As root, run: apt-get install ${missing[*]}" >&2
      return 1
    fi
    as_root=(sudo)
  fi
  echo "Packages: installing ${missing[*]} (needs the network once)."
  "${as_root[@]}" apt-get update -q
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q --no-install-recommends "${missing[@]}"
}

# Configures and builds one preset: build_preset NAME [TARGET...]
build_preset() {
  local preset=$1
  shift
  cmake --preset "$preset"
  cmake --build --preset "$preset" --parallel "$(nproc)" ${1:+--target "$@"}
}
