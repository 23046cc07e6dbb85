#!/usr/bin/env bash
# How every script of this repository downloads: it tries for five minutes, then fails and names the
# registry; and it keeps what it got outside the build folders. A library of functions:
#
#   . scripts/download.sh
#   download REGISTRY COMMAND...             runs the command until it succeeds
#   cache_folder                             prints where downloads and builds of peers are kept
#   fetch_crate NAME VERSION SHA256 FOLDER   unpacks a crate into FOLDER
#   pip_install VENV ARGUMENTS...            installs packages of PyPI, out of the cache from the
#                                            second time on
#
# As a program, `scripts/download.sh REGISTRY COMMAND...` is the function `download`.
#
# HAWTHORN_DOWNLOAD_SECONDS sets another limit than 300 seconds; HAWTHORN_CACHE another folder than
# `hawthorn` in XDG_CACHE_HOME or ~/.cache. To download anew, delete the folder.

# download REGISTRY COMMAND...: waits longer after each failure, and ends an attempt that takes more
# than what is left of the time. A command that is not there fails at once.
download() {
  local registry=$1 limit=${HAWTHORN_DOWNLOAD_SECONDS:-300} pause=1 code left end
  shift
  if ! [[ $limit =~ ^[1-9][0-9]*$ ]]; then
    echo "download: HAWTHORN_DOWNLOAD_SECONDS=$limit is not a number of seconds above 0" >&2
    return 2
  fi
  end=$(($(date +%s) + limit))
  left=$limit
  while true; do
    code=0
    timeout --foreground --kill-after=10 "$left" "$@" || code=$?
    case $code in
      0) return 0 ;;
      126 | 127)
        echo "download: $1 cannot be run, so nothing was downloaded from $registry" >&2
        return "$code"
        ;;
    esac
    left=$((end - $(date +%s) - pause))
    if [ "$left" -le 0 ]; then
      echo "download: $registry gave nothing within $limit seconds; the command was: $*" >&2
      return 1
    fi
    echo "download: $registry failed (exit code $code), trying again for $left seconds: $1" >&2
    sleep "$pause"
    pause=$((pause < 30 ? pause * 2 : 30))
  done
}

cache_folder() {
  local home=~
  echo "${HAWTHORN_CACHE:-${XDG_CACHE_HOME:-$home/.cache}/hawthorn}"
}

# has_sum SHA256 FILE
has_sum() { [ -f "$2" ] && sha256sum --check --status <<<"$1  $2"; }

# fetch_crate NAME VERSION SHA256 FOLDER: the checksum is that of the archive, which cargo downloads
# and which stays in the cache. Replaces the folder.
fetch_crate() {
  local name=$1 version=$2 sum=$3 folder=$4 home=~ work found archive
  archive=$(cache_folder)/crates/$name-$version.crate
  if ! has_sum "$sum" "$archive"; then
    mkdir -p "${archive%/*}"
    work=$(mktemp -d "${archive%/*}/fetch.XXXXXX")
    printf '[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2021"\n' >"$work/Cargo.toml"
    printf '[lib]\npath = "fetch.rs"\n[dependencies.%s]\n' "$name" >>"$work/Cargo.toml"
    printf 'version = "=%s"\ndefault-features = false\n' "$version" >>"$work/Cargo.toml"
    : >"$work/fetch.rs"
    if ! download "crates.io" cargo fetch --quiet --manifest-path "$work/Cargo.toml"; then
      rm -rf "$work"
      return 1
    fi
    rm -rf "$work"
    while IFS= read -r found; do
      if has_sum "$sum" "$found"; then
        cp "$found" "$archive.$$" && mv "$archive.$$" "$archive"
        break
      fi
    done < <(find "${CARGO_HOME:-$home/.cargo}/registry/cache" -name "$name-$version.crate")
    if ! has_sum "$sum" "$archive"; then
      echo "download: $name $version of crates.io has another checksum than $sum" >&2
      return 1
    fi
  fi
  rm -rf "$folder"
  mkdir -p "$folder"
  tar -xzf "$archive" -C "$folder" --strip-components 1
}

# pip_install VENV ARGUMENTS...: the arguments name packages, as `pip install` takes them. Their
# wheels are kept for these arguments, the files that they name, and this Python.
pip_install() {
  local pip=$1/bin/pip key wheels work argument
  shift
  key=$({ "$pip" --version | sed 's/.*(/(/' && uname -m
    for argument in "$@"; do
      echo "$argument"
      if [ -f "$argument" ]; then cat "$argument"; fi
    done; } | sha256sum | cut -c 1-16)
  wheels=$(cache_folder)/wheels/$key
  if [ ! -d "$wheels" ]; then
    mkdir -p "${wheels%/*}"
    work=$(mktemp -d "$wheels.XXXXXX")
    if ! download PyPI "$pip" wheel --quiet --disable-pip-version-check -w "$work" "$@"; then
      rm -rf "$work"
      return 1
    fi
    # Another process may have been faster.
    mv -T "$work" "$wheels" 2>/dev/null || rm -rf "$work"
  fi
  "$pip" install --quiet --disable-pip-version-check --no-index --find-links "$wheels" "$@"
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  if [ $# -lt 2 ]; then
    echo "usage: download.sh REGISTRY COMMAND..." >&2
    exit 2
  fi
  download "$@"
fi
