# Sourced by quickstart.sh and test.sh: the Debian packages that building and testing need.
# shellcheck shell=bash
purlin_packages=(
  g++ cmake ninja-build python3 git ca-certificates
  libboost-dev libyaml-cpp-dev libfmt-dev libcli11-dev nlohmann-json3-dev doctest-dev
)

# Installs what is missing, as root or through sudo. Does nothing, and needs no network, when all is there.
ensure_packages() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "Packages: this is not a Debian system, so nothing is installed. Needed: a C++20 compiler," \
      "CMake 3.25, Ninja, Python 3, Boost 1.74, yaml-cpp 0.7, fmt 9, CLI11 2, nlohmann-json 3.11," \
      "doctest 2.4."
    return
  fi
  local package missing=() as_root=()
  for package in "${purlin_packages[@]}"; do
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
      missing+=("$package")
  done
  if [[ ${#missing[@]} == 0 ]]; then
    echo "Packages: all ${#purlin_packages[@]} are installed."
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
