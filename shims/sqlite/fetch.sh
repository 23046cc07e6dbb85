#!/usr/bin/env bash
# Fetches a SQLite amalgamation for the shim, which contains none: sqlite3.c and its headers.
#
#   fetch.sh crate DIR    3.54.1, out of the crate libsqlite3-sys, by cargo
#   fetch.sh debian DIR   3.40.1 and the shell's source, made of Debian 12's source package, by
#                         apt-get; needs dpkg-dev, tcl, make and a C compiler. With a third
#                         directory they are made there, in sqlite3-3.40.1, which stays
#
# Then configure with -DHAWTHORN_SQLITE_SOURCE=DIR. What was fetched is verified by checksum, and
# stays in the cache (scripts/download.sh), where the next checkout finds it; an amalgamation in DIR
# is left as it is.
set -euo pipefail
. "$(dirname "$0")/../../scripts/download.sh"

CRATE=0.40.0
CRATE_SHA256=b06e69070b7e12262b0cd90832f0a7396f142a2b330181255562decf9f0c6215
DEBIAN=3.40.1
DEBIAN_SHA256=aaa776260ab4dc976db34aa7891819484c8676b5b2783123ebc6301e2ca5d655

if [ $# -lt 2 ]; then
  sed -n '2,12s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
mkdir -p "$2"
out=$(cd "$2" && pwd)
if [ $# -gt 2 ]; then
  mkdir -p "$3"
  work=$3
else
  [ -f "$out/sqlite3.c" ] && exit 0
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
fi
cd "$work"

crate() {
  fetch_crate libsqlite3-sys "$CRATE" "$CRATE_SHA256" crate
  cp crate/sqlite3/sqlite3.h crate/sqlite3/sqlite3ext.h "$out"
  cp crate/sqlite3/sqlite3.c "$out"
}

# The source package, into the folder.
download_source() {
  local folder=$1
  mkdir -p parts lists/partial "$folder"
  sed -E 's/^Types: .*/Types: deb-src/' /etc/apt/sources.list.d/*.sources \
    > parts/source.sources 2> /dev/null || true
  sed -nE 's/^deb /deb-src /p' /etc/apt/sources.list /etc/apt/sources.list.d/*.list \
    > parts/source.list 2> /dev/null || true
  local options=(-qq -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$PWD/parts"
    -o "Dir::State::lists=$PWD/lists" -o APT::Sandbox::User=root)
  download "Debian's archive" apt-get "${options[@]}" update
  (cd "$folder" &&
    download "Debian's archive" apt-get "${options[@]}" --download-only source sqlite3)
}

debian() {
  local cache made packages
  cache=$(cache_folder)/sqlite-$DEBIAN
  made=$cache/amalgamation
  # A caller's third directory is to have the source, too.
  if [ $# -eq 0 ] && [ -f "$made/SHA256SUMS" ] &&
    (cd "$made" && sha256sum --check --status SHA256SUMS); then
    cp "$made"/sqlite3.h "$made"/sqlite3ext.h "$made"/shell.c "$out"
    cp "$made"/sqlite3.c "$out"
    return
  fi
  mkdir -p "$cache"
  if ! has_sum "$DEBIAN_SHA256" "$cache/source/sqlite3_$DEBIAN.orig.tar.xz"; then
    rm -rf source.new "$cache/source"
    download_source "$PWD/source.new"
    echo "$DEBIAN_SHA256  source.new/sqlite3_$DEBIAN.orig.tar.xz" | sha256sum --check --quiet
    cp -r source.new "$cache/source.$$"
    mv -T "$cache/source.$$" "$cache/source" 2> /dev/null || rm -rf "$cache/source.$$"
  fi
  packages=("$cache"/source/sqlite3_"$DEBIAN"*.dsc)
  dpkg-source -x "${packages[0]}" "sqlite3-$DEBIAN" > source.log 2>&1 ||
    { cat source.log >&2; exit 1; }
  cd "sqlite3-$DEBIAN"
  ./configure > configure.log 2>&1 || { tail configure.log >&2; exit 1; }
  make sqlite3.c shell.c > make.log 2>&1 || { tail make.log >&2; exit 1; }
  rm -rf "$made.$$"
  mkdir "$made.$$"
  cp sqlite3.h src/sqlite3ext.h shell.c sqlite3.c "$made.$$"
  (cd "$made.$$" && sha256sum -- *.c *.h > SHA256SUMS)
  rm -rf "$made"
  mv -T "$made.$$" "$made" 2> /dev/null || rm -rf "$made.$$"
  cp sqlite3.h src/sqlite3ext.h shell.c "$out"
  cp sqlite3.c "$out"
}

case $1 in
  crate) crate ;;
  debian) debian "${@:3}" ;;
  *)
    echo "fetch.sh: no such source: $1" >&2
    exit 2
    ;;
esac
