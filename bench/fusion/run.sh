#!/usr/bin/env bash
# Our kernel lists against ONNX Runtime's own, at levels off, extended and all.
# bench/fusion/run.sh [--data DIR] [--csv FILE] [--quick] [--only NAME] [--verbose] [--keep DIR]
#   --data DIR   another folder with models/corpus
#   --quick      level 'all' only
#   --verbose    also the signatures that differ
#   --keep DIR   where the runtime's optimised models stay, for the next time
set -euo pipefail
caller=$PWD
. "$(dirname "$0")/../../scripts/common.sh"

data=$root_folder/../shared
rest=()
absolute() { case "$1" in /*) printf '%s' "$1" ;; *) printf '%s' "$caller/$1" ;; esac; }
while [ $# -gt 0 ]; do
  case "$1" in
    --data) data=$(absolute "$2"); shift 2 ;;
    --csv | --keep) rest+=("$1" "$(absolute "$2")"); shift 2 ;;
    -h | --help) sed -n '2,6p' "$0"; exit 0 ;;
    *) rest+=("$1"); shift ;;
  esac
done
[ -x build/release/fusion_bench ] || scripts/build.sh
scripts/get_models.sh
exec build/release/fusion_bench --list bench/accuracy/cpu/models.csv --data "$data" --packages .cache/models \
  --zoo build/bench/zoo ${rest[@]+"${rest[@]}"}
