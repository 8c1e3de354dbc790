#!/usr/bin/env bash
# Installs missing system packages on Debian, as root or through sudo. On other systems it prints what is missing and fails.
#   deps.sh run    what building and serving needs
#   deps.sh test   what the tests need in addition
#   deps.sh bench  the programs with which the benchmarks compare
set -euo pipefail

missing=()
need() { # need COMMAND PACKAGE
  command -v "$1" >/dev/null 2>&1 || missing+=("$2")
}

for tool in go node npm git; do
  command -v "$tool" >/dev/null 2>&1 || { echo "$tool is needed: install Go 1.26, Node 20 or newer, and git" >&2; exit 1; }
done

if [ "${1:-run}" = test ]; then
  need gcc "gcc libc6-dev" # the race detector
  need chromium chromium
  need chromium-headless-shell "chromium chromium-headless-shell" # installed together, so that both have the same version
  need openssl openssl # certificates of the identity provider in the tests
  need systemd-analyze systemd # the examples in deploy/
  PATH=$PATH:/usr/sbin need nginx nginx-light
  need caddy caddy
  need vips libvips-tools # a second engine for pictures
  need transicc liblcms2-utils # Little CMS, the reference for colours
  [ -e /usr/share/color/icc/ghostscript/default_cmyk.icc ] || missing+=(libgs-common) # a CMYK profile
  compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || need initdb postgresql
fi
if [ "${1:-run}" = bench ]; then
  need vips libvips-tools # the reference for pictures
  PATH=$PATH:/usr/sbin need nginx nginx-light # the reference for pages
fi
[ ${#missing[@]} -eq 0 ] && exit 0

if ! command -v apt-get >/dev/null 2>&1; then
  echo "please install: ${missing[*]}" >&2
  exit 1
fi
as_root=()
[ "$(id -u)" = 0 ] || as_root=(sudo)
echo "installing: ${missing[*]}"
"${as_root[@]}" apt-get update -qq
# shellcheck disable=SC2086 — one entry may name two packages
DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends ${missing[*]} >/dev/null
# Debian starts some of these packages as services. The tests do not need these services.
if [ -d /run/systemd/system ]; then
  for service in nginx caddy; do
    case " ${missing[*]} " in *" $service"*) "${as_root[@]}" systemctl disable --now "$service" ;; esac
  done
fi
