#!/bin/bash
# Our kernel lists against ONNX Runtime's own, at every level. Usage: run.sh [--data DIR] [--csv FILE] [--quick]
#
# Models: the float models of DIR/models/corpus, the architectures of bench/zoo (written to a temporary folder), and the
# light models of Debian's libonnx-testdata.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
build=${SIMPRED_BUILD:-$root/build/release}
data=$root/../shared
csv=()
quick=0
while (($#)); do
  case $1 in
    --data) data=$2; shift 2 ;;
    --csv) csv=(--csv "$2"); shift 2 ;;
    --quick) quick=1; shift ;;
    *) echo "usage: run.sh [--data DIR] [--csv FILE] [--quick]" >&2; exit 2 ;;
  esac
done
if [[ ! -x $build/fusion_bench ]]; then
  cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release >/dev/null
  cmake --build "$build" --target fusion_bench zoo >/dev/null
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
models=()
if [[ -x $build/zoo ]]; then
  "$build/zoo" "$work/zoo" >/dev/null && models+=("$work"/zoo/*.onnx)
fi
families='mlp|cnn|detector|ocr|segmentation|transformer|encoder|decoder|speech|image-to-image'
if [[ -f $data/models/corpus/index.csv ]]; then
  while IFS= read -r name; do
    [[ -f $data/models/corpus/$name ]] && models+=("$data/models/corpus/$name")
  done < <(awk -F, -v f="$families" 'NR > 1 && $10 == "onnx" && $2 ~ f && $14 + 0 >= 5 {print $1}' "$data/models/corpus/index.csv" | grep -viE 'int8|quant|fp16')
fi
((quick)) && models=("${models[@]:0:24}")
"$build/fusion_bench" --work "$work/optimised" "${csv[@]}" "${models[@]}"
