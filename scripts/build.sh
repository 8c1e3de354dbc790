#!/usr/bin/env bash
# Builds the one static program: scripts/build.sh FILE [VERSION]. The site must be in web/dist before.
# What only waits for networks is compiled without inlining: two megabytes less, and nothing that anybody could feel.
set -euo pipefail

small=()
for module in github.com/{alecthomas,aws,beevik,caddyserver,crewjam,libdns,mholt,miekg,pressly,russellhaering,wneessen,zeebo} go.uber.org; do
  small+=("-gcflags=$module/...=-l")
done
CGO_ENABLED=0 exec go build -tags nodynamic -trimpath "${small[@]}" -ldflags "-s -w -X main.version=${2:-dev}" -o "$1" ./cmd/atelie
