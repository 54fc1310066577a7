#!/usr/bin/env bash
# Installs what the build needs, fetches ONNX Runtime where it can be had, builds the release preset without the tests.
set -euo pipefail
. "$(dirname "$0")/common.sh"

install_packages "${build_packages[@]}"
scripts/get_onnxruntime.sh
build release -DSIMPRED_TESTS="${SIMPRED_TESTS:-OFF}"
