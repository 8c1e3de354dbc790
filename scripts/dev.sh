#!/usr/bin/env bash
# Runs the backend from source and Vite's development server. When one of them ends, so does the other.
set -euo pipefail
cd "$(dirname "$0")/.."
trap 'kill 0' EXIT
go run -tags nodynamic ./cmd/atelie serve --demo &
npm run --silent dev -- --clearScreen false &
wait -n
