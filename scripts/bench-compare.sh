#!/usr/bin/env bash
# Builds another commit, and compares its benchmarks with those of this tree: bench-compare.sh COMMIT [TABLE ...]
# Fails if a row of this tree is more than 10 % worse than the same row of the other commit.
set -euo pipefail
commit=$1
shift
other=$(mktemp -d)
trap 'rm -rf "$other"' EXIT
git clone --quiet . "$other"
git -C "$other" checkout --quiet "$commit"
make --silent -C "$other" build
go run -tags nodynamic ./bench compare "$other/bin/atelie" bin/atelie "$@"
