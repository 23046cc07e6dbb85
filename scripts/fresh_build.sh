#!/usr/bin/env bash
# `make build` where nothing is: makes a minimal Debian 12 in the empty or absent directory DIR with
# debootstrap, clones the last commit into it, runs `make build` and `make install` there as root,
# and has the installed command write a database and read it. Prints the packages that the build
# installed, how many steps it had and how long it took.
#
#   scripts/fresh_build.sh DIR
#
# Needs root and the package debootstrap. Packages come from the machine's own sources. Of packages
# there is what debootstrap calls minbase, and make, which a reader of the README types first. DIR
# stays for a look at it: delete it when done.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/download.sh

if [ $# -ne 1 ] || [[ $1 == -* ]]; then
  sed -n '2,/^set/{s/^# \{0,1\}//;/^set/!p}' "$0" >&2
  exit 2
fi
if [ -n "$(ls -A "$1" 2>/dev/null)" ]; then
  echo "fresh_build: $1 is not empty" >&2
  exit 2
fi
command -v debootstrap >/dev/null || {
  echo "fresh_build: debootstrap is missing: apt-get install debootstrap" >&2
  exit 2
}
mkdir -p "$1"
root=$(cd "$1" && pwd)

read -r mirror < <(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' |
  sed -n 's/ bookworm$//p')
download "Debian's packages" bash -c '
  find "$1" -mindepth 1 -delete
  debootstrap --variant=minbase --include=make,ca-certificates bookworm "$1" "$2" >"$1.log" 2>&1
  ' bash "$root" "$mirror"
rm -f "$root/etc/apt/sources.list"
cp -r /etc/apt/sources.list /etc/apt/sources.list.d "$root/etc/apt/" 2>/dev/null || true
cp -rn /etc/apt/apt.conf.d /etc/apt/preferences.d "$root/etc/apt/"
cp /etc/resolv.conf /etc/hosts "$root/etc/"
git clone -q --no-hardlinks . "$root/hawthorn"

inside() {
  chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
    http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" "$@"
}
mount -t proc proc "$root/proc"
trap 'umount "$root/proc"' EXIT
inside dpkg-query -W -f '${Package}\n' | sort >"$root/packages-before"

TIMEFORMAT='%0R s, %0U s of processor time'
{ time inside make -C /hawthorn build 2>&1 | tee "$root/build.log"; } 2>"$root/build-time"
inside dpkg-query -W -f '${Package}\n' | sort >"$root/packages-after"

inside make -C /hawthorn install PREFIX=/usr >"$root/install.log"
inside ldconfig
inside hawthorn put /tmp/db ada 1815
[ "$(inside hawthorn get /tmp/db ada)" = 1815 ]

echo
sed -n 's/^install_deps: installing /named: /p' "$root/build.log"
echo "with what those need: $(comm -13 "$root"/packages-before "$root"/packages-after | xargs)"
echo "steps: $(sed -nE 's,^\[([0-9]+)/[0-9]+\].*,\1,p' "$root/build.log" | tail -n 1)"
echo "make build, with installing packages, on $(nproc) processors: $(cat "$root/build-time")"
