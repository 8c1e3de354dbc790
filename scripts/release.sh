#!/usr/bin/env bash
# Makes a release of the current commit (make release): scripts/release.sh FOLDER VERSION [SYSTEM/PROCESSOR...].
# It makes all files twice and compares them. Each time it works in a fresh clone in another folder, the second time without Go's
# cache. So the comparison fails if a file depends on the folder, the time or chance.
set -euo pipefail
export LC_ALL=C TZ=UTC
umask 022

folder=$1 version=${2#v}
shift 2
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64)

fail() { echo "release: $*" >&2; exit 1; }
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?$ ]] || fail "'$version' is not a version such as 1.2.0: tag the commit (git tag v1.2.0), or name one: make release VERSION=1.2.0-rc.1"
[ -z "$(git status --porcelain)" ] || fail "there are changes that are not committed"
command -v dpkg-deb >/dev/null || fail "dpkg-deb is missing; Debian's package dpkg has it"
commit=$(git rev-parse HEAD)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct "$commit")
export SOURCE_DATE_EPOCH

work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT # Go's caches are read-only

# release CLONE OUT makes all files of the release in OUT.
release() {
  git clone -q . "$1"
  git -C "$1" checkout -q "$commit"
  mkdir "$2"
  ln -s "$PWD/node_modules" "$1/node_modules"
  local out=$2 name target
  cd "$1"
  npm run --silent build >/dev/null
  for target in "${targets[@]}"; do
    name=atelie_${version}_${target/\//_}
    [ "${target%/*}" != windows ] || name+=.exe
    GOFLAGS=-buildvcs=true GOOS=${target%/*} GOARCH=${target#*/} scripts/build.sh "$out/$name" "$version"
    [ "${target%/*}" != linux ] || scripts/deb.sh "$out/$name" "${target#*/}" "$version" "$out/atelie_${version}_${target#*/}.deb"
  done
  npm sbom --sbom-format cyclonedx --omit dev --package-lock-only 2>/dev/null >"$1.npm.json"
  go run -C tools ./release -folder "$out" -version "$version" -date "$SOURCE_DATE_EPOCH" -dockerfile "$PWD/deploy/Dockerfile" -npm "$1.npm.json"
}

(release "$work/one" "$work/first")
(GOCACHE=$work/cache && export GOCACHE && release "$work/another" "$work/second")
diff -r "$work/first" "$work/second" || fail "the same commit gave different files"
rm -rf "$folder"
cp -r "$work/first" "$folder"
echo "release: $(ls "$folder" | wc -l) files of $version in $folder, made twice and equal bit for bit"
