#!/usr/bin/env bash
# Builds the one static program: scripts/build.sh FILE [VERSION]. The site must be in web/dist before.
# What only waits for networks is compiled without inlining: two megabytes less, and nothing that anybody could feel.
set -euo pipefail

inline=(-gcflags=github.com/...=-l -gcflags=go.uber.org/...=-l)
for module in andybalholm/brotli gen2brain/webp klauspost/compress; do # they are busy: the last word counts
  inline+=("-gcflags=github.com/$module/...=")
done
CGO_ENABLED=0 exec go build -tags nodynamic -trimpath "${inline[@]}" -ldflags "-s -w -X main.version=${2:-dev}" -o "$1" ./cmd/atelie
