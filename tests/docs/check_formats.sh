#!/bin/bash
# Does docs/formats.md name what there is? check_formats.sh SIM_PREDICT REPOSITORY CASE_MODELS
#
# Every column of the database's tables, every column of the CSV, every key of the JSON Schemas of report and workload.
set -u
binary=$(readlink -f "$1")
root=$(readlink -f "$2")
page=$root/docs/formats.md
failed=0

need() { # WORD WHAT
  grep -qF "\`$1\`" "$page" || { echo "docs/formats.md does not name $2: $1"; failed=1; }
}

columns=$(sed -n '/R"sql(/,/)sql"/p' "$root/src/calibrate/database_schema.cc" | grep -vE '^CREATE INDEX|sql' |
  sed -E 's/^CREATE TABLE [a-z]+\(//; s/UNIQUE\(.*//; s/REFERENCES [a-z]+\([a-z]+\)//' | tr ',' '\n' | awk '{print $1}' |
  grep -E '^[a-z_0-9]+$' | sort -u)
[ "$(wc -l <<< "$columns")" -gt 40 ] || { echo "too few columns found: the search is broken"; failed=1; }
for column in $columns; do need "$column" "column"; done

for schema in report workload; do
  for key in $(grep -oE '"[a-z0-9_]+": \{("type"|"\$ref"|"enum")' "$root/docs/schema/$schema.schema.json" | sed -E 's/^"([^"]*)".*/\1/' | sort -u |
    grep -vxE 'items|interval|time'); do
    need "$key" "key of $schema.schema.json"
  done
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
header=$(sed -n '/^## Report CSV/,/^## Timeline/p' "$page" | tr '\n' ' ' | grep -oE '`index, [^`]*`' | tr -d '` ')
"$3" "$work" > /dev/null || { echo "no models"; exit 1; }
export XDG_DATA_HOME=$work SIMPRED_DEVICES=$root/devices
written=$("$binary" predict "$work/small.onnx" --device Ascend310P -q --format csv | head -n 1)
[ "$header" = "$written" ] || { echo "CSV columns: the page says $header, written is $written"; failed=1; }
exit "$failed"
