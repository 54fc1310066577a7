#!/bin/bash
# Do the commands of the documentation do what it says? check_commands.sh SIM_PREDICT ZOO REPOSITORY
#
# - README.md and README.zh-CN.md show the same commands, each a line `$ command`.
# - docs/features.md has all rows R1 to R41. Its commands end with status 0, or the one that follows as (exit N), and what
#   stands in backticks under "what one sees" is in their output.
# What needs ONNX Runtime or a calibrated device is marked with a dagger there, and is left out here: calibrate, measure,
# --compare in the READMEs.
set -u
binary=$(readlink -f "$1")
zoo=$(readlink -f "$2")
root=$(readlink -f "$3")
features=$root/docs/features.md

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/data" "$work/run"
ln -s "$binary" "$work/bin/sim_predict"
# What was measured of the processor once need not be measured for every test.
kept=$(dirname "$binary")/docs-test-devices
[ -d "$kept" ] && mkdir -p "$work/data/sim_predict" && cp -r "$kept" "$work/data/sim_predict/devices"
export PATH="$work/bin:$PATH" XDG_DATA_HOME="$work/data" NO_COLOR=1 SIMPRED_DEVICES="$root/devices"
export SIMPRED_ONNXRUNTIME=$work/not-there
cd "$work/run" || exit 1

failed=0
complain() { echo "FAILED: $1"; failed=1; }

# The models and configs that the pages say they use.
"$zoo" --out . mobilenet_v2 yolov5n > /dev/null || { echo "the zoo wrote no model"; exit 1; }
mkdir examples && cp "$root"/examples/*.yaml examples/ && cp mobilenet_v2.onnx examples/
for page in "$root/README.md" "$features"; do
  awk '/^```yaml$/ {inside = 1; name = ""; next} /^```$/ {inside = 0} inside && /^# [a-z]+\.yaml/ {name = $2; print > name; next} inside && name {print > name}' "$page"
done

shown() { sed -n 's/^\$ //p' "$1"; }
[ -n "$(shown "$root/README.md")" ] || complain "README.md shows no command"
[ "$(shown "$root/README.md")" = "$(shown "$root/README.zh-CN.md")" ] || complain "the READMEs show different commands"

count=0
run() { # COMMAND STATUS: appends to the file output
  count=$((count + 1))
  timeout 60 bash -c "$1" > one 2>&1 < /dev/null
  local status=$?
  [ "$status" = "$2" ] || { complain "status $status, not $2: $1"; head -c 2000 one; }
  cat one >> output
}

while IFS= read -r command; do
  [[ $command == sim_predict* ]] || continue
  [[ $command =~ calibrate|measure|--compare ]] && continue
  run "$command" 0
done < <(shown "$root/README.md")

for ((row = 1; row <= 41; ++row)); do
  line=$(grep -E "^\| R$row \|" "$features") || { complain "docs/features.md has no row R$row"; continue; }
  IFS='|' read -r _ _ _ state commands sees _ <<< "$line"
  case "$state" in *works* | *partly* | *"not yet"*) ;; *) complain "R$row: state '$state'" ;; esac
  : > output
  while IFS= read -r match; do
    [[ $match == *† ]] && continue
    command=$(sed -E 's/^`([^`]*)`.*/\1/' <<< "$match")
    status=$(sed -nE 's/.*\(exit ([0-9])\)$/\1/p' <<< "$match")
    run "$command" "${status:-0}"
  done < <(grep -oE '`sim_predict [^`]*`( †| \(exit [0-9]\))?' <<< "$commands")
  while IFS= read -r fragment; do
    [[ $fragment == *† ]] && continue
    fragment=${fragment//\`/}
    grep -qF -- "$fragment" output || { complain "R$row: not seen: $fragment"; head -c 2000 output; }
  done < <(grep -oE '`[^`]+`( †)?' <<< "$sees")
done

for config in "$root"/examples/*.yaml; do
  : > output
  run "sim_predict --config examples/$(basename "$config") --predict" 0
done

[ -d "$kept" ] || cp -r "$work/data/sim_predict/devices" "$kept" 2> /dev/null
echo "$count commands run"
exit "$failed"
