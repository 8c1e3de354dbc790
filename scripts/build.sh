#!/usr/bin/env bash
# Builds the program as one static file: scripts/build.sh FILE [VERSION]. The site must have been built into web/dist before.
# Packages that mostly wait for networks or do little work (commands, certificates, mails, small files) are compiled without
# inlining. That saves two and a half megabytes, and the program is not measurably slower.
# Functions begin at multiples of 16 bytes instead of 32 (-funcalign), as on arm64. That saves half a megabyte.
set -euo pipefail

scripts/bytecode.sh

gcflags=()
for packages in github.com/... go.uber.org/... golang.org/x/net/... golang.org/x/oauth2/... golang.org/x/text/... golang.org/x/{mod,sync}/... \
  google.golang.org/... filippo.io/... go.n16f.net/... crypto/x509/... archive/zip encoding/{asn1,csv,pem,xml} html/template text/template/... \
  expvar flag go/... internal/profile math/big net/mail net/http/{httputil,pprof} mime/... os/... regexp/syntax runtime/pprof text/... vendor/golang.org/x/{net,text}/... crypto/tls atelie/internal/media/{video,metadata}/... \
  atelie/internal/storage/{blob,resumable}/... \
  atelie/internal/{activity,apikeys,app,archive,auth,backup,cdn,certificates,cli,config,datafolder,demo,device,functions,health,history,i18n,identity,imported,interval,jobs,mail,metrics,realtime,release,s3client,settings,sms,supabase,webhook}/...; do
  gcflags+=("-gcflags=$packages=-l") # -l: no inlining
done
for module in andybalholm/brotli gen2brain/webp klauspost/compress; do # these need inlining; if several -gcflags match a package, the last one takes effect
  gcflags+=("-gcflags=github.com/$module/...=")
done
CGO_ENABLED=0 exec go build -tags nodynamic -trimpath "${gcflags[@]}" -ldflags "-s -w -funcalign=16 -X main.version=${2:-dev}" -o "$1" ./cmd/atelie
