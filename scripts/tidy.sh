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
printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -n 4 clang-tidy --quiet -p build/release 2>/dev/null
