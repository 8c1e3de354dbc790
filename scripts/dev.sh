#!/usr/bin/env bash
# The backend from source beside Vite's server; both end together.
set -euo pipefail
cd "$(dirname "$0")/.."
trap 'kill 0' EXIT
go run -tags nodynamic ./cmd/atelie serve --demo &
npm run --silent dev -- --clearScreen false &
wait -n
