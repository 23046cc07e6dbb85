#!/usr/bin/env bash
# Installs the Debian packages that are needed for a purpose and are not there yet.
#
#   scripts/install_deps.sh [PURPOSE]...
#
#   core       the library and the command (`make build`); when no purpose is given
#   test       the tests: the second compiler and its sanitizers, GoogleTest, the compiler cache
#   bench      the benchmarks: the engines that are measured, the word list, the charts
#   docs       the documentation site
#   bindings   the bindings of other languages; a language that is on the machine is taken as it is
#   cross      the build for arm64 on another machine, with the libraries of arm64 in a directory
#   package    the .deb and the tarball
#
# A purpose adds to `core` and does not include it. Needs root, or sudo; changes nothing and asks
# for nothing when all of them are there. Downloads are tried for five minutes (download.sh).
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/download.sh

core=(
  cmake ninja-build g++ pkg-config
  libhwy-dev libxxhash-dev libcli11-dev liblz4-dev libzstd-dev libssl-dev
  # io_uring; a build without it reads by a pool of threads.
  liburing-dev
  # History and completion of `hawthorn shell`, which reads plain lines without it.
  libedit-dev
  # `hawthorn web`, which is left out without it.
  libcpp-httplib-dev
)
test=(
  make git ccache libgtest-dev clang-19 lld-19 libclang-rt-19-dev llvm-19 clang-format-19
  python3 file dpkg-dev valgrind
  # A file system of its own for tests of full disks.
  btrfs-progs
  # The tools that `hawthorn mdbx-load` and `mdbx-dump` are compared with.
  lmdb-utils
  # What SQLite's source needs to become one file.
  tcl
  # The browser that shows the page of `hawthorn web`.
  chromium
)
# RocksDB's library is that of import-rocksdb, too, which is left out without it.
bench=(
  librocksdb-dev liblmdb-dev libsqlite3-dev libleveldb-dev libwiredtiger-dev
  wamerican python3 python3-matplotlib
)
docs=(python3)
bindings=(python3)
cross=(g++-12-aarch64-linux-gnu qemu-user)
package=(git python3 file dpkg-dev)

# Python may be there from elsewhere.
if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
  docs+=(python3-venv)
  bindings+=(python3-venv)
fi
if ! command -v cargo >/dev/null; then
  bench+=(cargo)
  bindings+=(cargo)
fi
command -v go >/dev/null || bindings+=(golang-go)
command -v node >/dev/null || bindings+=(nodejs libnode-dev)
command -v npm >/dev/null || bindings+=(npm)
command -v javac >/dev/null || bindings+=(default-jdk-headless)
python3 -c 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")' \
  2>/dev/null || bindings+=(python3-dev)

purposes=("$@")
[ ${#purposes[@]} -gt 0 ] || purposes=(core)
packages=()
for purpose in "${purposes[@]}"; do
  case $purpose in
    core | test | bench | docs | bindings | cross | package) ;;
    *)
      echo "install_deps: there is no purpose \"$purpose\"; there are: core, test, bench, docs," \
        "bindings, cross, package" >&2
      exit 2
      ;;
  esac
  declare -n of_purpose=$purpose
  for package_name in "${of_purpose[@]}"; do
    [[ " ${packages[*]-} " == *" $package_name "* ]] || packages+=("$package_name")
  done
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "install_deps: this is not Debian; install these by their names in Debian 12:" >&2
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
  local install=(apt-get install -y -q --no-install-recommends)
  download "Debian's packages" "${as_root[@]}" apt-get update -q
  download "Debian's packages" "${as_root[@]}" "${install[@]}" --download-only "${missing[@]}"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive "${install[@]}" "${missing[@]}"
}

# The libraries of arm64, unpacked in a directory of their own (HAWTHORN_AARCH64_ROOT, by default
# build/aarch64-root) for cmake/aarch64.cmake and the emulator. As packages of a second architecture
# they would have to be of the versions of the machine's own, which would be upgraded with them.
# apt works in that directory, too, with the machine's sources and without root.
unpack_arm64() {
  local root=${HAWTHORN_AARCH64_ROOT:-$PWD/build/aarch64-root} package archive archives
  local wanted=(
    libhwy-dev libxxhash-dev libcli11-dev liblz4-dev libzstd-dev libssl-dev liburing-dev
    libedit-dev libcpp-httplib-dev libgtest-dev libc6 libstdc++6
  )
  if [ "$(cat "$root/packages" 2>/dev/null)" = "${wanted[*]}" ]; then
    return 0
  fi
  echo "install_deps: unpacking for arm64 in $root: ${wanted[*]}"
  rm -rf "$root"
  archives=$(cache_folder)/arm64
  mkdir -p "$root"/apt/state/lists/partial "$root"/apt/cache "$archives/partial"
  : >"$root/apt/status"
  cat >"$root/apt/apt.conf" <<EOF
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "$(id -un)";
Dir::State "$root/apt/state";
Dir::State::status "$root/apt/status";
Dir::Cache "$root/apt/cache";
Dir::Cache::archives "$archives";
EOF
  # A source that has nothing for arm64 fails; what has to be there is seen after it.
  APT_CONFIG=$root/apt/apt.conf download "Debian's packages" bash -c '
    apt-get update -q || echo "install_deps: not all of the sources of apt answered" >&2
    apt-get install -y -q --no-install-recommends --download-only "$@"' bash "${wanted[@]}"
  # Of what was downloaded before, the versions that were replaced.
  APT_CONFIG=$root/apt/apt.conf apt-get autoclean -q
  for archive in "$archives"/*.deb; do
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
if [[ " ${purposes[*]} " == *" cross "* ]]; then
  unpack_arm64
fi
