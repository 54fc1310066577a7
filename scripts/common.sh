# What the scripts share: saying what is done, installing, building. Sourced, not run.

root_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root_folder" || exit 1

say() { printf '\n==> %s\n' "$*" >&2; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# Debian's names. The second list is for the checks and the tests only.
build_packages=(g++ cmake ninja-build pkg-config libfmt-dev nlohmann-json3-dev libyaml-cpp-dev libcli11-dev
                libsqlite3-dev libprotozero-dev libmd-dev libeigen3-dev ca-certificates)
test_packages=(libgtest-dev libonnx-testdata clang-format clang-tidy)

install_packages() {
  local missing=()
  for p in "$@"; do
    dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'install ok installed' || missing+=("$p")
  done
  if [ ${#missing[@]} -eq 0 ]; then
    say "packages: all $# are installed"
    return
  fi
  say "packages: installing ${missing[*]}"
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "installing packages needs root: run as root, or install: ${missing[*]}"
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# build PRESET [configure arguments]
build() {
  local preset=$1
  shift
  say "building build/$preset (about five minutes from nothing on two cores)"
  cmake --preset "$preset" "$@" >"build-$preset.log" 2>&1 || { cat "build-$preset.log" >&2; die "configuring failed"; }
  rm -f "build-$preset.log"
  cmake --build --preset "$preset" || die "the build failed"
}
