#!/usr/bin/env bash
# Builds another commit beside this one, and compares the benchmarks of both: bench-compare.sh COMMIT [TABLE ...]
# Fails if a row is more than 10 % worse than that commit's.
set -euo pipefail
commit=$1
shift
other=$(mktemp -d)
trap 'rm -rf "$other"' EXIT
git clone --quiet . "$other"
git -C "$other" checkout --quiet "$commit"
make --silent -C "$other" build
go run -tags nodynamic ./bench compare "$other/bin/atelie" bin/atelie "$@"
