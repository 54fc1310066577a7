#!/usr/bin/env bash
# clang-tidy over the sources of the release build; every finding is an error (.clang-tidy says what is looked for).
#   scripts/tidy.sh [file.cc ...]
set -euo pipefail
. "$(dirname "$0")/common.sh"

built=${TIDY_BUILD:-build/release}
[ -f "$built/compile_commands.json" ] || die "build first: scripts/test.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ $# -gt 0 ]; then
  files=("$@")
else
  # What was built, without the tests: the compiler's warnings cover them, and they would take half of the time.
  mapfile -t files < <(sed -n 's/^ *"file": "\(.*\.cc\)",\{0,1\}$/\1/p' "$built/compile_commands.json" |
    grep -v -e '_test\.cc$' -e "$built/" | sort -u)
fi
# GCC's warning options are not all known to clang. How many warnings were suppressed is said only if one was not.
if ! printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -n 4 clang-tidy --quiet -p "$built" \
  --extra-arg=-Wno-unknown-warning-option 2>"$work/log"; then
  grep -v 'warnings\? generated' "$work/log" >&2 || true
  die "clang-tidy found something in these ${#files[@]} files"
fi
say "clang-tidy: nothing found in ${#files[@]} files"
