#!/usr/bin/env bash
# Installs the Debian packages that the build, the tests and the benchmarks need and that are not
# there yet; with `bindings` as an argument what the bindings of other languages need, too, with
# `aarch64` what the build for that architecture needs. Needs root, or sudo; touches nothing and
# asks for nothing when all of them are there.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(
  # Build.
  make git cmake ninja-build g++ ccache pkg-config
  libhwy-dev libxxhash-dev libcli11-dev liblz4-dev libzstd-dev libssl-dev
  # io_uring; a build without it reads by a pool of threads.
  liburing-dev
  # History and completion of `hawthorn shell`, which reads plain lines without it.
  libedit-dev
  # `hawthorn web`, which is left out without it.
  libcpp-httplib-dev
  # Tests: the second compiler, its linker and sanitizers, the formatter, the test scripts, cpack;
  # the tools that `hawthorn mdbx-load` and `mdbx-dump` are compared with; what SQLite's source
  # needs to become one file; the browser that shows the page of `hawthorn web`.
  libgtest-dev clang-19 lld-19 libclang-rt-19-dev llvm-19 clang-format-19 python3 dpkg-dev file
  lmdb-utils tcl chromium
  # Benchmarks: the peers, the word list of the account names, the charts. RocksDB's library is that
  # of import-rocksdb, too, which is left out without it.
  librocksdb-dev liblmdb-dev libsqlite3-dev libleveldb-dev libwiredtiger-dev
  wamerican python3-matplotlib
)

# For the documentation site and the bindings; Python may be there from elsewhere.
python3 -c 'import ensurepip, venv' 2>/dev/null || packages+=(python3-venv)
# A language that is there from elsewhere, and newer, is taken as it is.
if [ "${1:-}" = bindings ]; then
  command -v cargo >/dev/null || packages+=(cargo)
  command -v go >/dev/null || packages+=(golang-go)
  command -v node >/dev/null || packages+=(nodejs libnode-dev)
  command -v npm >/dev/null || packages+=(npm)
  command -v javac >/dev/null || packages+=(default-jdk-headless)
  python3 -c 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")' \
    2>/dev/null || packages+=(python3-dev)
fi
if [ "${1:-}" = aarch64 ]; then
  packages+=(g++-12-aarch64-linux-gnu qemu-user)
fi

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "install_deps: this is no Debian; what has to be there, by its names in Debian 12:" >&2
  echo "  ${packages[*]}" >&2
  exit 0
fi

install_missing() {
  local package status missing=() as_root=()
  for package in "${packages[@]}"; do
    # The format gives several lines for a package of several architectures.
    status=$(dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null) || status=absent
    grep -qx installed <<<"$status" || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0

  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "install_deps: missing: ${missing[*]}" >&2
      echo "install_deps: neither root nor sudo; as root: apt-get install ${missing[*]}" >&2
      exit 1
    fi
    as_root=(sudo)
  fi
  echo "install_deps: installing ${missing[*]}"
  "${as_root[@]}" apt-get update -q
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q --no-install-recommends "${missing[@]}"
}

# The libraries of arm64, unpacked in a directory of their own (HAWTHORN_AARCH64_ROOT, by default
# build/aarch64-root) for cmake/aarch64.cmake and the emulator. As packages of a second architecture
# they would have to be of the versions of the machine's own, which would be upgraded with them.
# apt works in that directory, too, with the machine's sources and without root.
unpack_aarch64() {
  local root=${HAWTHORN_AARCH64_ROOT:-$PWD/build/aarch64-root} package archive
  local wanted=(
    libhwy-dev libxxhash-dev libcli11-dev liblz4-dev libzstd-dev libssl-dev liburing-dev
    libedit-dev libcpp-httplib-dev libgtest-dev libc6 libstdc++6
  )
  if [ "$(cat "$root/packages" 2>/dev/null)" = "${wanted[*]}" ]; then
    return 0
  fi
  echo "install_deps: unpacking for arm64 in $root: ${wanted[*]}"
  rm -rf "$root"
  mkdir -p "$root"/apt/state/lists/partial "$root"/apt/cache/archives/partial
  : >"$root/apt/status"
  cat >"$root/apt/apt.conf" <<EOF
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "$(id -un)";
Dir::State "$root/apt/state";
Dir::State::status "$root/apt/status";
Dir::Cache "$root/apt/cache";
EOF
  # A source that has nothing for arm64 fails; what has to be there is seen below.
  APT_CONFIG=$root/apt/apt.conf apt-get update -q ||
    echo "install_deps: not all of apt's sources answered" >&2
  APT_CONFIG=$root/apt/apt.conf apt-get install -y -q --no-install-recommends --download-only \
    "${wanted[@]}"
  for archive in "$root"/apt/cache/archives/*.deb; do
    package=$(basename "$archive")
    case $package in
      # The cross compiler has headers of its own.
      libc6-dev_* | linux-libc-dev_* | libcrypt-dev_* | libc-dev-bin_*) ;;
      *) dpkg-deb -x "$archive" "$root" ;;
    esac
  done
  rm -rf "$root/apt"
  echo "${wanted[*]}" >"$root/packages"
}

install_missing
if [ "${1:-}" = aarch64 ]; then
  unpack_aarch64
fi
