#!/usr/bin/env bash
# Compiles the script that renders pages on the server (web/vite.server.config.ts), unless that was done with the same script and engine.
set -euo pipefail
cd "$(dirname "$0")/.."

script=web/dist-server/render.js bytecode=web/dist/.server/render.bytecode.br
if [ "$bytecode" -nt "$script" ] && [ "$bytecode" -nt go.mod ]; then exit; fi
unset GOOS GOARCH # this program runs here, also in the build for another system
CGO_ENABLED=0 exec go run -tags nodynamic -trimpath ./cmd/bytecode "$script" "$bytecode"
