#!/usr/bin/env bash
# Installs what is needed, builds everything and runs all tests.
#
#   scripts/test.sh             release build, all tests
#   scripts/test.sh --all       also formatting, and all tests under AddressSanitizer and UBSan (scripts/tidy.sh: clang-tidy)
set -euo pipefail
. "$(dirname "$0")/common.sh"

all=no
case "${1:-}" in
  "") ;;
  --all) all=yes ;;
  -h | --help) sed -n '2,6p' "$0"; exit 0 ;;
  *) die "unknown argument '$1' (known: --all)" ;;
esac

install_packages "${build_packages[@]}" "${test_packages[@]}"
scripts/get_onnxruntime.sh
build release -DSIMPRED_TESTS=ON
say "tests"
ctest --preset release --parallel 2

if [ $all = yes ]; then
  say "formatting"
  git ls-files '*.h' '*.cc' | xargs clang-format --dry-run --Werror
  build asan
  say "tests under AddressSanitizer and UBSan"
  ctest --preset asan --parallel 2
fi
say "all passed"
