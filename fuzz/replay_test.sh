#!/bin/bash
# A short replay for the tests: replay_test.sh CASE_MODELS TARGET. The models that the cases use, much mutated; Debian's
# test data of ONNX, where installed, each file once and with a few mutations.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1" "$work"
"$2" --mutations 500 "$work"
testdata=/usr/share/libonnx-testdata
if [ -d "$testdata" ]; then
  # The folders hold the models' inputs and outputs too.
  find -L "$testdata" -name '*.onnx' -size -64k | sort >"$work/list"
  mkdir "$work/models"
  number=0
  while IFS= read -r model; do
    number=$((number + 1))
    ln -s "$model" "$work/models/$(printf '%05d' $number).onnx"
  done <"$work/list"
  "$2" --mutations 4 "$work/models"
else
  echo "libonnx-testdata is not installed: left out"
fi
