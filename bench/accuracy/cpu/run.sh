#!/usr/bin/env bash
# bench/accuracy/cpu/run.sh [--data DIR] [--csv FILE] [--quick] [--judge-only] [--kernels] [--budget 6min] [--database FILE]
#   --data DIR   another folder with models/corpus (then every whole network of its index.csv is judged)
set -euo pipefail
. "$(dirname "$0")/../../../scripts/common.sh"

data=$root_folder/../shared
database=build/bench/accuracy-cpu.db
list=(--list "$root_folder/bench/accuracy/cpu/models.csv")
rest=()
while [ $# -gt 0 ]; do
  case "$1" in
    --data) data=$2; list+=(--corpus); database=build/bench/accuracy-cpu-data.db; shift 2 ;;
    --database) database=$2; shift 2 ;;
    -h | --help) sed -n '2,3p' "$0"; exit 0 ;;
    *) rest+=("$1"); shift ;;
  esac
done
[ -x build/release/accuracy_cpu ] || scripts/build.sh
scripts/get_models.sh
mkdir -p "$(dirname "$database")"
exec build/release/accuracy_cpu "${list[@]}" --data "$data" --packages .cache/models --work build/bench/zoo \
  --database "$database" ${rest[@]+"${rest[@]}"}
