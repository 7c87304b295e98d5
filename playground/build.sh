#!/usr/bin/env bash
# Builds the playground into `playground/dist`: static files, to be served from anywhere. docs/playground.md says
# what it needs.
set -euo pipefail
cd "$(dirname "$0")"

export npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false
rm -rf dist
npm ci --ignore-scripts
npm run check
npm run build

# The program's own stack is as large as that of a thread elsewhere.
stack=$((32 << 20))
export CARGO_TARGET_WASM32_WASIP1_RUSTFLAGS="-C link-arg=-zstack-size=$stack"
(cd .. && cargo zigbuild --locked --profile wasm --target wasm32-wasip1 --bin cudalint)
wasm=../target/wasm32-wasip1/wasm/cudalint.wasm
gzip --best --no-name --stdout "$wasm" >dist/cudalint.wasm.gzip
echo "cudalint.wasm: $(wc -c <"$wasm") bytes, $(wc -c <dist/cudalint.wasm.gzip) packed"
