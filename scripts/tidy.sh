#!/usr/bin/env bash
# clang-tidy over the sources of the release build; every finding is an error (.clang-tidy says what is looked for).
#   scripts/tidy.sh [file.cc ...]
set -euo pipefail
. "$(dirname "$0")/common.sh"

[ -f build/release/compile_commands.json ] || die "build first: scripts/test.sh"
if [ $# -gt 0 ]; then
  files=("$@")
else
  mapfile -t files < <(git ls-files 'src/*.cc' 'bench/*.cc' 'fuzz/*.cc' | grep -v '_test\.cc$')
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# The build is GCC's: clang does not know all of its warning options. What clang-tidy counts on stderr is shown only if
# something is wrong.
if ! printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -n 4 clang-tidy --quiet -p build/release \
  --extra-arg=-Wno-unknown-warning-option 2>"$log"; then
  grep -v 'warnings\? generated' "$log" >&2 || true
  die "clang-tidy found something in the ${#files[@]} files"
fi
say "clang-tidy: nothing found in ${#files[@]} files"
