#!/usr/bin/env bash
# Fetches a SQLite amalgamation for the shim, which contains none: sqlite3.c and its headers.
#
#   fetch.sh crate DIR    3.54.1, out of the crate libsqlite3-sys, by cargo
#   fetch.sh debian DIR   3.40.1 and the shell's source, made of Debian 12's source package, by
#                         apt-get; needs dpkg-dev, tcl, make and a C compiler. With a third
#                         directory they are made there, in sqlite3-3.40.1, which stays
#
# Then configure with -DHAWTHORN_SQLITE_SOURCE=DIR. What was fetched is verified by checksum; an
# amalgamation that is there is left as it is.
set -euo pipefail

CRATE=0.40.0
CRATE_SHA256=0c657666d819f261cc4007526ad57e1669de9949df7a8ea847aa284a2bf0ee52
DEBIAN=3.40.1
DEBIAN_SHA256=aaa776260ab4dc976db34aa7891819484c8676b5b2783123ebc6301e2ca5d655

if [ $# -lt 2 ]; then
  sed -n '2,11s/^# \{0,1\}//p' "$0" >&2
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
  cat > Cargo.toml <<END
[package]
name = "fetch"
version = "0.0.0"
edition = "2021"
[lib]
path = "fetch.rs"
[dependencies]
libsqlite3-sys = { version = "=$CRATE", features = ["bundled"] }
END
  touch fetch.rs
  cargo fetch --quiet
  local manifest
  manifest=$(cargo metadata --format-version 1 --offline |
    python3 -c 'import json, sys
for package in json.load(sys.stdin)["packages"]:
    if package["name"] == "libsqlite3-sys":
        print(package["manifest_path"])')
  local source=${manifest%/Cargo.toml}/sqlite3
  echo "$CRATE_SHA256  $source/sqlite3.c" | sha256sum --check --quiet
  cp "$source"/sqlite3.h "$source"/sqlite3ext.h "$out"
  cp "$source"/sqlite3.c "$out"
}

debian() {
  mkdir -p parts lists/partial
  sed -E 's/^Types: .*/Types: deb-src/' /etc/apt/sources.list.d/*.sources \
    > parts/source.sources 2> /dev/null || true
  sed -nE 's/^deb /deb-src /p' /etc/apt/sources.list /etc/apt/sources.list.d/*.list \
    > parts/source.list 2> /dev/null || true
  local options=(-qq -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$PWD/parts"
    -o "Dir::State::lists=$PWD/lists" -o APT::Sandbox::User=root)
  apt-get "${options[@]}" update
  apt-get "${options[@]}" source sqlite3 > source.log 2>&1 ||
    { cat source.log >&2; exit 1; }
  echo "$DEBIAN_SHA256  sqlite3_$DEBIAN.orig.tar.xz" | sha256sum --check --quiet
  cd "sqlite3-$DEBIAN"
  ./configure > configure.log 2>&1 || { tail configure.log >&2; exit 1; }
  make sqlite3.c shell.c > make.log 2>&1 || { tail make.log >&2; exit 1; }
  cp sqlite3.h src/sqlite3ext.h shell.c "$out"
  cp sqlite3.c "$out"
}

case $1 in
  crate | debian) "$1" ;;
  *)
    echo "fetch.sh: no such source: $1" >&2
    exit 2
    ;;
esac
