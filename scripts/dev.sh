#!/usr/bin/env bash
# Runs the backend from source, with the demo content, and Vite's development server (make dev). When one of them ends, the other is ended
# too.
set -euo pipefail
cd "$(dirname "$0")/.."
trap 'kill 0' EXIT
go run -tags nodynamic ./cmd/atelie serve --demo &
npm run --silent dev -- --clearScreen false &
wait -n
