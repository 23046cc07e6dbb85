#!/usr/bin/env bash
# Runs the tests of LMDB's own programs and of Python's binding with this library in its place.
# Which of them fail is in lmdb_bindings.tsv, each with the reason; exits with 1 where others fail,
# or those pass. Not a part of the tests: it fetches them by pip and apt-get.
#
#   lmdb_bindings.sh LIBRARY [python] [cffi] [programs]
#
# LIBRARY is libhawthorn_lmdb.so; without names of bindings, all.
#
#   python     package lmdb 1.8.1 (made for LMDB 0.9.35), its module in C
#   cffi       the same by cffi
#   programs   Debian's source of lmdb 0.9.24: mtest*.c, and mdb_load, mdb_dump, mdb_stat, mdb_copy
#
# LIBRARY may be LMDB's own, which tells what they do there. With Debian's 0.9.24 2 fail of python
# and of cffi, cursor_test's *NodupAfterDeletePutSingleKey: the package has changed its own copy.
#
# Works in build/bindings. Needs python3 with venv, and where there is apt-get the sources of its
# packages. Results of each test: build/bindings/lmdb-*.log.
set -euo pipefail

PYTHON=1.8.1
PYTHON_SHA256=44ef24033929e9cc227a7e17287473c452b462d716f118db885c667c80f57429
SOURCE=0.9.24
SOURCE_SHA256=8e7200fdc9bb09b0cfad1d4eee8b20d539e43fe05c7ef9406247d64659c4a480

here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/../../scripts/download.sh"
work=$here/../../build/bindings
library=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- python cffi programs
mkdir -p "$work/lmdb-lib"
work=$(realpath "$work")
# The name that bindings link with, and those that the library may have itself.
for name in liblmdb.so liblmdb.so.0 libhawthorn_lmdb.so.0; do
  ln -sf "$library" "$work/lmdb-lib/$name"
done
engine=$(ldd "$library" | awk '/libhawthorn\.so/ { print $3 }')
export LD_LIBRARY_PATH=$work/lmdb-lib
include=/usr/include
if [ -n "$engine" ]; then
  LD_LIBRARY_PATH+=:$(dirname "$engine")
  include=$here/include/lmdb
fi

# compare BINDING: lines of "passed NAME" and "failed NAME" against lmdb_bindings.tsv
compare() {
  local results=$work/lmdb-$1.results
  sort > "$results"
  echo "$1: $(grep -c ^passed "$results") passed, $(grep -c ^failed "$results" || true) failed"
  local known=$here/tests/lmdb_bindings.tsv
  diff <(awk -F '\t' -v binding="$1" '$1 == binding { print $2 }' "$known" | sort) \
    <(sed -n 's/^failed //p' "$results")
}

# python NAME: as a module in C, or with LMDB_FORCE_CFFI by cffi
python() {
  local name=$1 venv=$work/lmdb-venv
  cd "$work"
  if [ ! -d "$venv" ]; then
    python3 -m venv "$venv"
    pip_install "$venv" setuptools wheel cffi pytest
  fi
  if [ ! -f "lmdb-$PYTHON.tar.gz" ]; then
    LMDB_FORCE_SYSTEM=1 download PyPI "$venv/bin/pip" --quiet download --no-binary :all: \
      --no-deps --no-build-isolation "lmdb==$PYTHON"
  fi
  echo "$PYTHON_SHA256  lmdb-$PYTHON.tar.gz" | sha256sum --check --quiet
  rm -rf "lmdb-$name"
  mkdir "lmdb-$name"
  tar -xf "lmdb-$PYTHON.tar.gz" -C "lmdb-$name" --strip-components 1
  cd "lmdb-$name"
  LMDB_FORCE_SYSTEM=1 LMDB_INCLUDEDIR=$include LMDB_LIBDIR=$work/lmdb-lib \
    "$venv/bin/python" setup.py --quiet build_ext --inplace > "$work/lmdb-$name.build.log" 2>&1
  # Tests start programs that import the package, too.
  export PYTHONPATH=$PWD
  "$venv/bin/python" -m pytest -q --collect-only tests | grep :: > "$work/lmdb-$name.tests"
  "$venv/bin/python" -X faulthandler -m pytest -v tests > "$work/lmdb-$name.log" 2>&1 || true
  # What has no result has failed, as the process has ended before.
  awk 'NR == FNR { if ($2 == "PASSED" || $2 == "SKIPPED") good[$1] = 1; next }
       { print (good[$1] ? "passed " : "failed ") $1 }' \
    "$work/lmdb-$name.log" "$work/lmdb-$name.tests" | sed 's| tests/| |' | compare "$name"
}

fetch_source() {
  mkdir -p apt/parts apt/lists/partial
  sed -E 's/^Types: .*/Types: deb-src/' /etc/apt/sources.list.d/*.sources \
    > apt/parts/source.sources 2> /dev/null || true
  sed -nE 's/^deb /deb-src /p' /etc/apt/sources.list /etc/apt/sources.list.d/*.list \
    > apt/parts/source.list 2> /dev/null || true
  local options=(-qq -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$PWD/apt/parts"
    -o "Dir::State::lists=$PWD/apt/lists" -o APT::Sandbox::User=root)
  download "Debian's archive" apt-get "${options[@]}" update
  download "Debian's archive" apt-get "${options[@]}" source "lmdb=$SOURCE-1" \
    > apt/source.log 2>&1
}

programs() {
  cd "$work"
  [ -d "lmdb-$SOURCE" ] || fetch_source
  echo "$SOURCE_SHA256  lmdb_$SOURCE.orig.tar.gz" | sha256sum --check --quiet
  rm -rf lmdb-programs
  mkdir lmdb-programs
  cd lmdb-programs
  # Of LMDB's debug build alone, where one test prints a key by it.
  cat > dkey.h <<'END'
#include <stdio.h>
#include "lmdb.h"
static char* mdb_dkey(MDB_val* key, char* buffer) {
  sprintf(buffer, "%ld", *(long*)key->mv_data);
  return buffer;
}
END
  local source=$work/lmdb-$SOURCE/libraries/liblmdb name
  for name in mtest mtest2 mtest3 mtest4 mtest5 mtest6 mdb_load mdb_dump mdb_stat mdb_copy; do
    # By their text, since beside them is LMDB's header.
    cc -w -O1 -I"$include" -include ./dkey.h -o "$name" -x c - -x none -L"$work/lmdb-lib" -llmdb \
      -lpthread < "$source/$name.c"
  done
  { for name in mtest mtest2 mtest3 mtest4 mtest5 mtest6; do
      rm -rf testdb
      mkdir testdb
      run "$name" "./$name"
    done
    sample several 1 > several.txt
    sample one > one-of-each.txt
    run load_and_dump_several load_and_dump several.txt
    run load_and_dump load_and_dump one-of-each.txt
    run stat ./mdb_stat -aefr one
    run copy copy
  } | compare programs
}

run() {
  local name=$1
  shift
  echo "$name:" >> "$work/lmdb-programs.log"
  if (set -e; "$@") >> "$work/lmdb-programs.log" 2>&1; then
    echo "passed $name"
  else
    echo "failed $name"
  fi
}

# sample TABLE [DUPSORT]: what mdb_load takes, 2000 pairs of 500 keys, or of 2000
sample() {
  printf '%s\n' VERSION=3 format=bytevalue "database=$1" type=btree mapsize=10485760 \
    ${2:+duplicates=1 dupsort=1} HEADER=END
  seq 0 1999 | while read -r i; do
    printf ' %08x\n %08x%016x\n' "$((i / (${2:-0} * 3 + 1)))" "$i" "$((i * 7))"
  done
  echo DATA=END
}

# What mdb_dump says of what mdb_load made is what it says of a load of that. Pages are estimates.
load_and_dump() {
  rm -rf one two
  mkdir one two
  ./mdb_load -f "$1" one &&
    ./mdb_dump -a one > one.txt && ./mdb_load -f one.txt two && ./mdb_dump -a two > two.txt &&
    grep -v ^db_pagesize one.txt > one.plain && grep -v ^db_pagesize two.txt > two.plain &&
    cmp one.plain two.plain && [ "$(grep -c '^ ' one.txt)" -gt 0 ]
}

copy() {
  rm -rf three
  mkdir three
  ./mdb_copy -c one three && ./mdb_dump -a three > three.txt && cmp one.txt three.txt
}

code=0
for which in "$@"; do
  case $which in
    python) (unset LMDB_FORCE_CFFI; python python) & ;;
    cffi) (export LMDB_FORCE_CFFI=1; python cffi) & ;;
    programs) : > "$work/lmdb-programs.log"; programs & ;;
    *) echo "unknown: $which"; exit 2 ;;
  esac
  wait $! || code=1
done
exit "$code"
