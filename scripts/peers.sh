#!/usr/bin/env bash
# Builds release versions of the engines that hawthorn-bench compares with, from sources that
# packages of crates.io carry, into build/peers/NAME-VERSION (include, lib, peer.txt):
#
#   scripts/peers.sh                    all of them; each version of RocksDB takes some ten minutes
#                                       of a processor
#   scripts/peers.sh NAME[-VERSION]...  these: rocksdb, rocksdb-11.8.1, lmdb, mdbx, sqlite, tidesdb
#   scripts/peers.sh small              all but RocksDB, of which the headers alone are installed
#   scripts/peers.sh --list             prints names and versions, and from which packages
#   scripts/peers.sh --assertions FILE  prints whether this library of a peer was built with
#                                       assertions: on or off
#
# Sources are verified by checksum. They and what was built stay in the cache (scripts/download.sh),
# by version, flags, compiler and processor: a second checkout installs it in seconds, and a build
# that was interrupted goes on. CC and CXX name other compilers than cc and c++;
# HAWTHORN_PEERS_JOBS how many files are compiled at once; HAWTHORN_PEERS another folder than
# build/peers.
#
# Every peer is compiled for the processor at hand, without assertions, and at least as its own
# project does it for a release. peer.txt tells how, in lines KEY=VALUE:
#
#   version     what its header says
#   compiler    the first line of the compiler's --version
#   flags       all that changes the code
#   assertions  on or off, found in the library that was built
#   origin      crate NAME VERSION
#
# A folder without peer.txt has headers alone.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/download.sh

peers=(
  # name, version, crate, its version, the checksum of its archive
  "lmdb 0.9.70 lmdb-master-sys 0.2.6 \
    aaeb9bd22e73bd1babffff614994b341e9b2008de7bb73bf1f7e9154f1978f8b"
  "mdbx 0.14.4 mdbx-sys 14.4.0 \
    1f7c4502adb435d9aee303b3675aafa3f2f70465fff32c64c37859ccf340fd48"
  "sqlite 3.54.1 libsqlite3-sys 0.40.0 \
    b06e69070b7e12262b0cd90832f0a7396f142a2b330181255562decf9f0c6215"
  "tidesdb 10.2.1 tidesdb 1.0.0 \
    374c204a7833531058f07994af87d1571e2a39fc0d00fa19d8b7bb1149d3dc03"
  "rocksdb 11.8.1 librocksdb-sys 0.19.0+11.8.1 \
    4f45e86edad8e88efe97dbf384b4e48e1ff0f111eabf154c7b09d7a1e5fb573c"
  "rocksdb 10.4.2 librocksdb-sys 0.17.3+10.4.2 \
    cef2a00ee60fe526157c9023edab23943fae1ce2ab6f4abb2a807c1746835de9"
)

CC=${CC:-cc}
CXX=${CXX:-c++}
export CC CXX
jobs=${HAWTHORN_PEERS_JOBS:-$(nproc)}
out=${HAWTHORN_PEERS:-build/peers}
launcher=()
if command -v ccache >/dev/null; then launcher=(ccache); fi
# Position-independent: the benchmarks put each into a module.
optimized="-O2 -DNDEBUG -march=native -fPIC"

# How each is built. In the source's folder, with `prefix` for what is installed; sets `flags`.

# compile_c LIBRARY FILE...: with `flags`, into prefix/lib/LIBRARY
compile_c() {
  local library=$1 file objects=() words
  shift
  read -ra words <<<"$flags"
  for file in "$@"; do
    "${launcher[@]}" "$CC" "${words[@]}" -w -c "$file" -o "$(basename "$file").o"
    objects+=("$(basename "$file").o")
  done
  rm -f "$prefix/lib/$library"
  ar rcs "$prefix/lib/$library" "${objects[@]}"
}

build_lmdb() {
  cd lmdb/libraries/liblmdb
  flags="$optimized -pthread"
  compile_c liblmdb.a mdb.c midl.c
  cp lmdb.h "$prefix/include"
}

build_mdbx() {
  cd libmdbx
  flags="$optimized -std=gnu11 -pthread -ffunction-sections -fvisibility=hidden"
  flags+=" -DMDBX_BUILD_FLAGS=\"release\""
  compile_c libmdbx.a mdbx.c
  cp mdbx.h "$prefix/include"
}

# With what its documentation recommends for programs that use it as the benchmarks do.
build_sqlite() {
  cd sqlite3
  flags="$optimized -pthread -DSQLITE_THREADSAFE=2 -DSQLITE_DEFAULT_MEMSTATUS=0"
  flags+=" -DSQLITE_LIKE_DOESNT_MATCH_BLOBS -DSQLITE_OMIT_SHARED_CACHE -DSQLITE_USE_ALLOCA"
  compile_c libsqlite3.a sqlite3.c
  cp sqlite3.h sqlite3ext.h "$prefix/include"
}

# build_cmake TARGET ARGUMENTS...: configures and builds with CMake in the folder `build`; `flags`
# are those of the file FIRST, without warnings and folders.
build_cmake() {
  local target=$1 first=$2
  shift 2
  local launchers=()
  if [ ${#launcher[@]} -gt 0 ]; then
    launchers=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  fi
  cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
    "${launchers[@]}" "$@"
  cmake --build build --target "$target" -j "$jobs"
  flags=$(python3 -c 'import json, sys
for entry in json.load(open("build/compile_commands.json")):
    if entry["file"].endswith("/" + sys.argv[1]):
        words = entry["command"].split()
        words = words[next(i for i, word in enumerate(words) if word.startswith("-")):]
        print(" ".join(word for i, word in enumerate(words)
                       if word.startswith("-") and word[:2] not in ("-W", "-I", "-o", "-c")
                       and word != "-isystem"))
        break' "$first")
}

build_tidesdb() {
  cd tidesdb
  build_cmake tidesdb db.c -DBUILD_SHARED_LIBS=OFF -DTIDESDB_BUILD_TESTS=OFF \
    -DCMAKE_C_FLAGS=-march=native -DTIDESDB_WITH_SNAPPY=OFF -DTIDESDB_WITH_LZ4=OFF \
    -DTIDESDB_WITH_ZSTD=OFF
  cp build/libtidesdb.a "$prefix/lib"
  mkdir -p "$prefix/include/tidesdb"
  cp include/*.h build/tidesdb_version.h "$prefix/include/tidesdb"
}

# As its own CMake builds a release, which is for the processor at hand, but for three things: -O2,
# as in its Makefile; files are compiled together, as its Makefile offers (unity.a), in a third of
# the time; and run-time types, for programs that derive from its classes.
build_rocksdb() {
  cd rocksdb
  build_cmake rocksdb unity_0_cxx.cxx -DROCKSDB_BUILD_SHARED=OFF -DWITH_GFLAGS=OFF \
    -DWITH_TESTS=OFF -DWITH_BENCHMARK_TOOLS=OFF -DWITH_CORE_TOOLS=OFF \
    -DWITH_TOOLS=OFF -DWITH_TRACE_TOOLS=OFF \
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DFAIL_ON_WARNINGS=OFF -DUSE_RTTI=ON \
    -DCMAKE_CXX_FLAGS_RELEASE="-O2 -DNDEBUG" \
    -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=16
  cp build/librocksdb.a "$prefix/lib"
  cp -r include/rocksdb "$prefix/include"
}

# version_in NAME FOLDER: what the headers say; of mdbx they do not have the last number
version_in() {
  local header expression
  case $1 in
    lmdb) header=lmdb.h expression=MDB_VERSION_MAJOR.MDB_VERSION_MINOR.MDB_VERSION_PATCH ;;
    mdbx) header=mdbx.h expression=MDBX_VERSION_MAJOR.MDBX_VERSION_MINOR ;;
    sqlite) header=sqlite3.h expression=SQLITE_VERSION ;;
    tidesdb) header=tidesdb/tidesdb_version.h expression=TIDESDB_VERSION ;;
    rocksdb) header=rocksdb/version.h expression=ROCKSDB_MAJOR.ROCKSDB_MINOR.ROCKSDB_PATCH ;;
  esac
  printf '#include <%s>\n%s\n' "$header" "$expression" |
    "$CXX" -x c++ -E -P -I"$2" - | tail -n 1 | tr -d ' "'
}

# assertions_in LIBRARY: by what each library leaves in its code when it checks itself. libmdbx and
# LMDB have texts of their own; others call the C library's function.
assertions_in() {
  local symbols
  if grep -aq ' CHECKING=[0-9]' "$1"; then # libmdbx since 0.14
    if grep -aq ' CHECKING=0' "$1"; then echo off; else echo on; fi
    return
  fi
  if grep -aqE "Assertion '%[.0-9]*s' failed in" "$1"; then # LMDB
    echo on
    return
  fi
  # A shared library has its symbols in another table, and a static one says so of the first.
  symbols=$(nm -D --undefined-only "$1" 2>/dev/null || true)
  symbols+=$(nm --undefined-only "$1" 2>/dev/null || true)
  if [ -z "$symbols" ]; then
    echo "peers: $1 is no library whose symbols can be read" >&2
    return 1
  fi
  if grep -qE '\b__assert(_fail|_perror_fail)?\b' <<<"$symbols"; then echo on; else echo off; fi
}

# build NAME VERSION CRATE CRATE_VERSION SHA256: into the cache, unless it is there; sets `built`
build() {
  local name=$1 version=$2 crate=$3 crate_version=$4 sum=$5 compiler key work prefix found flags
  compiler=$CC
  if [ "$name" = rocksdb ]; then compiler=$CXX; fi
  compiler=$("$compiler" --version | head -n 1)
  # What -march=native stands for, and the text of what is done.
  key=$({ echo "$*" "$compiler" "$optimized"
    declare -f compile_c build_cmake "build_$name"
    "$CXX" -march=native -E -v -x c++ /dev/null 2>&1 | grep -E -- 'cc1(plus)? '; } |
    sha256sum | cut -c 1-16)
  built=$(cache_folder)/peers/$name-$version-$key
  mkdir -p "${built%/*}"
  # One process builds it; others wait for what it has built.
  exec 9>"$built.lock"
  flock 9
  if [ -f "$built/peer.txt" ]; then
    exec 9>&-
    return 0
  fi
  work=$built.work
  prefix=$work/installed
  echo "peers: building $name $version"
  if [ ! -f "$work/source/.unpacked" ]; then
    fetch_crate "$crate" "$crate_version" "$sum" "$work/source"
    touch "$work/source/.unpacked"
  fi
  rm -rf "$prefix"
  mkdir -p "$prefix/include" "$prefix/lib"
  (
    cd "$work/source"
    "build_$name"
    echo "$flags" >"$work/flags"
  ) >"$work/log" 2>&1 || {
    tail -n 40 "$work/log" >&2
    echo "peers: $name $version cannot be built; see $work/log" >&2
    return 1
  }
  found=$(version_in "$name" "$prefix/include")
  if [[ -z $found || $version != "$found"* ]]; then
    echo "peers: the headers of $name $version say that they are of $found" >&2
    return 1
  fi
  {
    echo "version=$version"
    echo "compiler=$compiler"
    echo "flags=$(cat "$work/flags")"
    echo "assertions=$(assertions_in "$prefix"/lib/*.a)"
    echo "origin=crate $crate $crate_version"
  } >"$work/peer.txt"
  mv "$work/peer.txt" "$prefix/peer.txt"
  rm -rf "$built"
  mv "$prefix" "$built"
  rm -rf "$work"
  exec 9>&-
}

# install FOLDER NAME: what is there is replaced as a whole
install() {
  local target=$out/$2
  mkdir -p "$out"
  rm -rf "$target.new"
  cp -r "$1" "$target.new"
  rm -rf "$target"
  mv "$target.new" "$target"
}

# install_headers NAME VERSION CRATE CRATE_VERSION SHA256: of RocksDB, unless the library is there
install_headers() {
  local target=$out/$1-$2
  if [ -f "$target/peer.txt" ]; then return 0; fi
  fetch_crate "$3" "$4" "$5" "$target.source"
  mkdir -p "$target.headers"
  mv "$target.source/rocksdb/include" "$target.headers/include"
  install "$target.headers" "$1-$2"
  rm -rf "$target.source" "$target.headers"
  echo "peers: $target (headers)"
}

case ${1:-} in
  -h | --help)
    sed -n '2,31s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
  --list)
    for peer in "${peers[@]}"; do
      read -r name version crate crate_version _ <<<"$peer"
      echo "$name-$version (crate $crate $crate_version)"
    done
    exit 0
    ;;
  --assertions)
    assertions_in "${2:?the name of a library}"
    exit
    ;;
esac

wanted=("$@")
for word in "${wanted[@]}"; do
  known=$([ "$word" != small ] || echo yes)
  for peer in "${peers[@]}"; do
    read -r name version _ <<<"$peer"
    if [ "$word" = "$name" ] || [ "$word" = "$name-$version" ]; then known=yes; fi
  done
  if [ -z "$known" ]; then
    echo "peers: there is no peer \"$word\"; there are: $(scripts/peers.sh --list | sed 's/ .*//' |
      tr '\n' ' ')" >&2
    exit 2
  fi
done

# wants NAME VERSION: library, headers, or nothing
wants() {
  local word what=
  if [ ${#wanted[@]} -eq 0 ]; then what=library; fi
  for word in "${wanted[@]}"; do
    case $word in
      "$1" | "$1-$2") what=library ;;
      small) [ -n "$what" ] || what=$([ "$1" = rocksdb ] && echo headers || echo library) ;;
    esac
  done
  echo "$what"
}

for peer in "${peers[@]}"; do
  read -ra fields <<<"$peer"
  case $(wants "${fields[@]:0:2}") in
    library)
      build "${fields[@]}"
      install "$built" "${fields[0]}-${fields[1]}"
      echo "peers: $out/${fields[0]}-${fields[1]} ($(sed -n 's/^assertions=/assertions /p' \
        "$built/peer.txt"))"
      ;;
    headers) install_headers "${fields[@]}" ;;
  esac
done
