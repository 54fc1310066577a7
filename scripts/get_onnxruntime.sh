#!/bin/bash
# Where do ONNX Runtime's library and C header come from?
#
#   scripts/get_onnxruntime.sh [--require]
#
# Puts them into .deps/onnxruntime/{lib,include} of this repository. The library is the official CPU build inside the npm
# package onnxruntime-node, or inside the Python wheel onnxruntime; the header is the one of Debian's libonnxruntime-dev.
# What is there already is kept. If something cannot be fetched, this says what will be unavailable and succeeds, because
# everything but measuring on this machine works without; with --require it fails.
set -euo pipefail

readonly NPM_PACKAGE=onnxruntime-node@1.30.0
readonly WHEEL=onnxruntime==1.30.0
readonly HEADER_SUITE=trixie # the oldest Debian that has the header
readonly HEADER_PACKAGE=libonnxruntime-dev

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly root
readonly target=$root/.deps/onnxruntime
readonly library=$target/lib/libonnxruntime.so.1
readonly header=$target/include/onnxruntime_c_api.h

require=no
case "${1:-}" in
  --require) require=yes ;;
  "") ;;
  *)
    echo "usage: $0 [--require]" >&2
    exit 2
    ;;
esac

say() { echo "get_onnxruntime: $*"; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# An ELF shared object of this machine's architecture that has the entry point.
is_library() {
  local magic
  magic=$(head -c 4 "$1" 2>/dev/null | od -An -c | tr -d ' ') || return 1
  [ "$magic" = '177ELF' ] && grep -q OrtGetApiBase "$1" && [ "$(elf_machine "$1")" = "$(elf_machine /bin/sh)" ]
}
elf_machine() { od -An -tu2 -j18 -N2 "$1" | tr -d ' '; }
is_header() { grep -q 'ORT_API_VERSION' "$1" 2>/dev/null; }

install_library() {
  is_library "$1" || { say "$1 is not a library for this machine"; return 1; }
  mkdir -p "$target/lib"
  cp "$1" "$library.new" && mv "$library.new" "$library"
}

library_from_npm() {
  local arch=x64 found
  [ "$(uname -m)" = aarch64 ] && arch=arm64
  command -v npm >/dev/null || { say "npm is not installed"; return 1; }
  say "fetching $NPM_PACKAGE with npm (no install script is run)"
  (cd "$work" && npm pack --silent "$NPM_PACKAGE" >/dev/null) || { say "npm could not fetch it"; return 1; }
  mkdir -p "$work/npm"
  # Only this platform: the package holds the builds of all of them.
  tar -xzf "$work"/onnxruntime-node-*.tgz -C "$work/npm" --wildcards "*/linux/$arch/*" || return 1
  found=$(find "$work/npm" -path "*/linux/$arch/*" -name 'libonnxruntime.so.1*' -print -quit)
  [ -n "$found" ] && install_library "$found"
}

pip_command() {
  if command -v pip3 >/dev/null && pip3 --version >/dev/null 2>&1; then
    echo pip3
  elif python3 -m pip --version >/dev/null 2>&1; then
    echo "python3 -m pip"
  else
    return 1
  fi
}

library_from_pip() {
  local pip found
  pip=$(pip_command) || { say "pip is not installed"; return 1; }
  say "fetching the wheel $WHEEL with pip"
  # The wheel is only unpacked: any of its Python versions will do.
  $pip download --quiet --no-deps --only-binary=:all: --dest "$work/wheel" "$WHEEL" ||
    $pip download --quiet --no-deps --only-binary=:all: --python-version 3.12 --dest "$work/wheel" "$WHEEL" ||
    { say "pip could not fetch it"; return 1; }
  python3 -m zipfile -e "$work"/wheel/onnxruntime-*.whl "$work/wheel/unpacked" || return 1
  found=$(find "$work/wheel/unpacked" -name 'libonnxruntime.so.1*' -print -quit)
  # Wheels that link the library into their extension module have the entry point there.
  [ -n "$found" ] || found=$(find "$work/wheel/unpacked" -name 'onnxruntime_pybind11_state*.so' -print -quit)
  [ -n "$found" ] && install_library "$found"
}

# pip is the lighter of the two clients.
install_a_client() {
  command -v apt-get >/dev/null || return 1
  as_root apt-get update -qq >/dev/null 2>&1 || true # old lists may do
  local package
  for package in python3-pip npm; do
    say "installing $package with apt, to fetch the library"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$package" \
      >/dev/null 2>&1 && return 0
  done
  say "apt could install neither pip nor npm"
  return 1
}

get_library() {
  if is_library "$library"; then
    say "library: already in $target/lib"
    return 0
  fi
  library_from_npm || library_from_pip || { install_a_client && { library_from_pip || library_from_npm; }; }
}

# Unpacks the downloaded .deb: nothing is installed on the system.
unpack_header() {
  local deb
  deb=$(find "$work/deb" -name "${HEADER_PACKAGE}_*.deb" -print -quit)
  [ -n "$deb" ] || return 1
  dpkg-deb -x "$deb" "$work/header" || return 1
  local found
  found=$(find "$work/header" -name onnxruntime_c_api.h -print -quit)
  is_header "$found" || return 1
  mkdir -p "$target/include"
  cp -r "$(dirname "$found")/." "$target/include/"
}

header_from_this_system() {
  mkdir -p "$work/deb"
  say "fetching the header from this system's package $HEADER_PACKAGE"
  (cd "$work/deb" && apt-get download -qq "$HEADER_PACKAGE" >/dev/null 2>&1) && unpack_header
}

# The first Debian mirror of the system's own sources, in either format.
debian_mirror() {
  cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
    sed -n -E 's/^deb (\[[^]]*\] )?([^ ]+) .*$/\2/p; s/^URIs: *([^ ]+).*$/\1/p' |
    grep -v -E 'security|-lts' | head -n 1
}

# A private configuration: its lists and archives are its own, so that the system's apt never sees the other suite.
header_from_newer_suite() {
  local mirror keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  mirror=$(debian_mirror)
  [ -n "$mirror" ] || { say "no Debian mirror in the system's sources"; return 1; }
  say "fetching the header from $HEADER_PACKAGE of Debian $HEADER_SUITE, with a private apt configuration"
  mkdir -p "$work"/apt/{lists/partial,archives/partial,parts} "$work/deb"
  echo "deb [signed-by=$keyring] $mirror $HEADER_SUITE main" >"$work/apt/sources.list"
  chmod -R a+rX "$work"
  local options=(
    -o "Dir::Etc::SourceList=$work/apt/sources.list" -o "Dir::Etc::SourceParts=$work/apt/parts"
    -o "Dir::State::Lists=$work/apt/lists" -o "Dir::Cache=$work/apt" -o "Dir::Cache::Archives=$work/apt/archives"
    -o "Dir::State::status=/var/lib/dpkg/status" -o "APT::Sandbox::User=" -o "Acquire::Languages=none"
  )
  apt-get "${options[@]}" -qq update || { say "apt could not read $HEADER_SUITE"; return 1; }
  (cd "$work/deb" && apt-get "${options[@]}" download -qq "$HEADER_PACKAGE" >/dev/null) && unpack_header
}

get_header() {
  if is_header "$header"; then
    say "header: already in $target/include"
    return 0
  fi
  command -v apt-get >/dev/null || { say "no apt-get here to fetch the header with"; return 1; }
  header_from_this_system || header_from_newer_suite
}

missing=no
get_library || { missing=yes; say "NO LIBRARY: 'sim_predict' will build, describe and predict, but not measure on this machine"; }
get_header || { missing=yes; say "NO HEADER: 'sim_predict' will be built without measuring on this machine"; }
if [ "$missing" = no ]; then
  say "ready: $library"
  exit 0
fi
say "run this again when the network or the package registries can be reached, then build again"
[ "$require" = no ] || exit 1
