#!/bin/bash
# Does every file exist that the documentation points to? check_pointers.sh REPOSITORY
#
# Looked at: targets of links, and words in backticks that look like a path of this repository (`src/graph/shape.h`,
# `bench/zoo/`, `devices/*.yaml`) or, in the README of a folder, like one of its sources (`shape.h`). A part in capitals
# (`devices/NAME.yaml`) stands for any name; what the user makes (`build/`, `.deps`, `.cache`) need not be there.
set -u
root=$(readlink -f "$1")
cd "$root" || exit 1
failed=0
checked=0

complain() { echo "$1: no such file: $2"; failed=1; }

exists() { compgen -G "$1" > /dev/null; }

check_link() { # DOCUMENT TARGET
  local target=${2%%#*}
  case "$2" in http://* | https://* | mailto:* | '#'*) return ;; esac
  checked=$((checked + 1))
  exists "$(dirname "$1")/$target" || complain "$1" "$2"
}

check_word() { # DOCUMENT WORD
  local pattern folder
  folder=$(dirname "$1")
  pattern=$(sed -E 's/\b[A-Z]{3,}\b/*/g' <<< "$2")
  case "$2" in
    README* | CHANGELOG* | CONTRIBUTING* | LICENSE) pattern=$2 ;; # real names in capitals
    */README.md | */LICENSE) pattern=$2 ;;
  esac
  checked=$((checked + 1))
  exists "$pattern" || exists "$folder/$pattern" && return
  # A folder's README may leave out the folder below it that its heading names.
  [[ $pattern != */* && $folder != . && -n $(find "$folder" -name "$pattern" -print -quit) ]] || complain "$1" "$2"
}

while IFS= read -r document; do
  while IFS= read -r target; do check_link "$document" "$target"; done < <(
    grep -oE '\]\([^) ]+\)' "$document" | sed -E 's/^\]\(//; s/\)$//')
  while IFS= read -r word; do
    [[ $word == x.* || $word == x_test.* ]] && continue # "x.h, x.cc, x_test.cc beside each other"
    if [[ $word =~ ^(src|docs|scripts|bench|tests|examples|devices|fuzz|cmake|\.ci)/[A-Za-z0-9_./*-]*$ ]]; then
      check_word "$document" "$word"
    elif [[ $word =~ ^[a-z0-9_]+(/[a-z0-9_]+)*\.(h|cc)$ && $(basename "$document") == README.md ]]; then
      check_word "$document" "$word"
    elif [[ $word =~ ^[A-Za-z0-9_./-]+\.(sh|md)$ && $word != *[A-Z][A-Z]*.sh ]]; then
      check_word "$document" "$word"
    fi
  done < <(grep -oE '`[^` ]+`' "$document" | tr -d '`' | sort -u)
done < <(find . -name '*.md' -not -path './build/*' -not -path './.deps/*' -not -path './.cache/*' -not -path './.git/*' |
  sed 's|^\./||' | sort)

echo "$checked pointers checked"
[ "$checked" -gt 50 ] || { echo "that is too few: the search is broken"; failed=1; }
exit "$failed"
