#!/usr/bin/env bash
# Makes a Debian package with a built program and its systemd unit: scripts/deb.sh PROGRAM PROCESSOR VERSION FILE. All times in the
# package are SOURCE_DATE_EPOCH, so that the same program gives the same package, bit for bit.
set -euo pipefail
export LC_ALL=C TZ=UTC
umask 022

program=$1 processor=$2 version=$3 file=$4
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"

install -D -m 755 "$program" "$root/usr/bin/atelie"
install -d "$root/lib/systemd/system" "$root/usr/share/doc/atelie" "$root/DEBIAN"
# In the package, the unit starts the program in /usr/bin. Its first comment loses the sentence about how to install the unit by hand.
sed 's#/usr/local/bin/#/usr/bin/#; /^# Ateliê/s#\. .*#.#' deploy/atelie.service >"$root/lib/systemd/system/atelie.service"
install -D -m 644 deploy/debian/sysusers.conf "$root/usr/lib/sysusers.d/atelie.conf"
install -D -m 644 deploy/settings.json "$root/usr/share/atelie/settings.json"
install -m 644 LICENSE "$root/usr/share/doc/atelie/copyright"
gzip -9n <CHANGELOG.md >"$root/usr/share/doc/atelie/changelog.gz"
(cd "$root" && find usr lib -type f | sort | xargs md5sum) >"$root/DEBIAN/md5sums"
install -m 755 deploy/debian/{postinst,prerm,postrm} "$root/DEBIAN"
size=$(find "$root" -type f -printf '%s\n' | awk '{ n += $1 } END { print int(n / 1024) + 1 }')
# The version 1.2.0-rc.1 becomes 1.2.0~rc.1, because Debian sorts 1.2.0-rc.1 after 1.2.0, but 1.2.0~rc.1 before it.
sed "s/@VERSION@/${version/-/\~}/; s/@PROCESSOR@/$processor/; s/@SIZE@/$size/" deploy/debian/control >"$root/DEBIAN/control"
find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group -Zgzip --build "$root" "$file" >/dev/null
