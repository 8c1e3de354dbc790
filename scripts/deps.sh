#!/usr/bin/env bash
# Installs missing system packages on Debian, as root or through sudo. Says what is missing elsewhere.
#   deps.sh run    what building and serving needs
#   deps.sh test   what the tests need besides
#   deps.sh bench  what the benchmarks compare with
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
  need chromium-headless-shell "chromium chromium-headless-shell" # both of one version
  need openssl openssl # certificates of the identity provider in the tests
  need systemd-analyze systemd # the examples in deploy/
  PATH=$PATH:/usr/sbin need nginx nginx-light
  need caddy caddy
  need vips libvips-tools # a second engine for pictures
  need transicc liblcms2-utils # Little CMS, which colours are compared with
  [ -e /usr/share/color/icc/ghostscript/default_cmyk.icc ] || missing+=(libgs-common) # a profile of a press
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
# What was installed to be tested with is no service of this machine.
if [ -d /run/systemd/system ]; then
  for service in nginx caddy; do
    case " ${missing[*]} " in *" $service"*) "${as_root[@]}" systemctl disable --now "$service" ;; esac
  done
fi
