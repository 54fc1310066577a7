#!/bin/bash
# Runs one case: run_case.sh SIM_PREDICT CASE_MODELS FILE.case. README.md beside this file says what a case holds.
# 0: as expected, 1: not, 77: skipped.
set -u
binary=$(readlink -f "$1")
models=$(readlink -f "$2")
case_file=$(readlink -f "$3")
devices=$(readlink -f "$(dirname "$0")/../../devices")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/models" "$work/data" "$work/run"
printf '#!/bin/bash\nexec timeout 60 %q "$@"\n' "$binary" > "$work/bin/sim_predict"
chmod +x "$work/bin/sim_predict"
"$models" "$work/models" || { echo "the models could not be written"; exit 1; }
cat > "$work/device.yaml" <<'YAML'
name: CaseDevice
kind: npu
description: a device that exists for these cases
cores: 1
peak: {float32: 1 TFLOP/s, float16: 2 TFLOP/s}
memory:
  - {name: HBM, capacity: 8 GiB, bandwidth: 100 GB/s, shared: true, source: made up}
memory_capacity: 8 GiB
launch_cost: 1 us
run_cost: 10 us
runtime: acl
sources: {peak: made up, launch_cost: made up, run_cost: made up}
YAML

export PATH="$work/bin:$PATH" XDG_DATA_HOME="$work/data" HOME="$work/data" M="$work/models" NO_COLOR=1
export CASE_DEVICE="$work/device.yaml"
export SIMPRED_DEVICES="$devices"
cd "$work/run" || exit 1

fields() { sed -n "s/^$1: \{0,1\}//p" "$case_file"; }

while IFS= read -r condition; do
  bash -c "$condition" > /dev/null 2>&1 || { echo "skipped: needs $condition"; exit 77; }
done < <(fields needs)
while IFS= read -r line; do
  bash -c "$line" || { echo "setup failed: $line"; exit 1; }
done < <(fields setup)

command=$(fields run)
bash -c "$command" > "$work/stdout" 2> "$work/stderr" < /dev/null
status=$?

failed=0
complain() { echo "FAILED: $1"; failed=1; }
expected=$(fields exit)
[ "$status" = "$expected" ] || complain "exit status $status, expected $expected"
[ "$status" -lt 124 ] || complain "ended by a signal or ran too long"
for stream in stdout stderr; do
  while IFS= read -r text; do
    grep -qF -- "$text" "$work/$stream" || complain "$stream lacks: $text"
  done < <(fields "$stream")
  while IFS= read -r text; do
    ! grep -qF -- "$text" "$work/$stream" || complain "$stream has: $text"
  done < <(fields "$stream-not")
done
if [ "$failed" = 1 ]; then
  echo "--- $command"
  for stream in stdout stderr; do echo "--- $stream"; head -c 4000 "$work/$stream"; done
fi
exit "$failed"
