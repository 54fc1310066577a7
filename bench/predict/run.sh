#!/usr/bin/env bash
# bench/predict/run.sh [--data DIR] [--csv FILE] [--quick] [--database FILE]
#   The database is the one of bench/accuracy/cpu or of scripts/quickstart.sh, whichever is there; else a short calibration is made.
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"

csv= runs=31 database=
while [ $# -gt 0 ]; do
  case "$1" in
    --data) shift 2 ;; # the model is generated
    --csv) csv=$2; shift 2 ;;
    --database) database=$2; shift 2 ;;
    --quick) runs=7; shift ;;
    -h | --help) sed -n '2,3p' "$0"; exit 0 ;;
    *) die "unknown argument '$1'" ;;
  esac
done
[ -x build/release/predict_bench ] || scripts/build.sh
mkdir -p build/bench
build/release/zoo --out build/bench/zoo resnet50 >/dev/null
if [ -z "$database" ]; then
  for candidate in build/quickstart/calibration.db build/bench/predict.db; do
    if [ -f "$candidate" ]; then database=$candidate; break; fi
  done
fi
if [ -z "$database" ]; then
  database=build/bench/predict.db
  build/release/sim_predict calibrate --device cpu --database "$database" --budget 1min >&2
fi
kernels=$(build/release/sim_predict predict build/bench/zoo/resnet50.onnx --database "$database" --quiet --format csv | tail -n +2 | wc -l)
build/release/predict_bench build/release/sim_predict build/bench/zoo/resnet50.onnx "$database" "$runs" ${csv:+"$csv"} |
  sed "s/^RESULT predict /RESULT predict kernels=$kernels /"
