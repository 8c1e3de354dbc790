#!/usr/bin/env bash
# Compiles the script that renders pages on the server (web/vite.server.config.ts) to bytecode. Does nothing if the bytecode is newer than
# the script and than go.mod, which has the version of the JavaScript engine.
set -euo pipefail
cd "$(dirname "$0")/.."

script=web/dist-server/render.js bytecode=web/dist/.server/render.bytecode.br
if [ "$bytecode" -nt "$script" ] && [ "$bytecode" -nt go.mod ]; then exit; fi
unset GOOS GOARCH # the compiler runs on this machine, also if the build is for another system
CGO_ENABLED=0 exec go run -tags nodynamic -trimpath ./cmd/bytecode "$script" "$bytecode"
