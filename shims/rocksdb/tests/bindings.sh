#!/usr/bin/env bash
# Runs the tests of other languages' bindings of RocksDB with this library in its place, and says
# how many pass. Not a part of the tests: it fetches the bindings by cargo and go, and what they
# test that is refused here fails.
#
#   bindings.sh LIBRARY [rust] [go10] [go7]     LIBRARY: libhawthorn_rocksdb.so; default: all
#
#   rust   crate rocksdb 0.24.0 (made for RocksDB 10.4.2), with the header of its own
#   go10   grocksdb v1.10.7 (for RocksDB 10.9), compiled with our header
#   go7    grocksdb v1.7.14 (for RocksDB 7.8), with the header of its own
#
# Works in build/bindings. Needs cargo, go and libclang. Results of each test: build/bindings/*.log.
set -euo pipefail

CRATE=rocksdb-0.24.0
CRATE_SHA256=ddb7af00d2b17dbd07d82c0063e25411959748ff03e8d4f96134c2ff41fce34f
GROCKSDB=github.com/linxGnu/grocksdb
GO10=v1.10.7
GO10_SUM=h1:fCi4qvZWo04VgFwGWmO8HQJgUVounJBy+C2TMVPU/ho=
GO7=v1.7.14
GO7_SUM=h1:8lMZzyWeNP5lI0BIppX05DzmQzXj/Tgu82bgWYtowLY=

here=$(cd "$(dirname "$0")/.." && pwd)
work=$here/../../build/bindings
library=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- rust go10 go7
mkdir -p "$work/lib"
work=$(realpath "$work")
# The name that bindings link with, and those that the library may have itself: what was linked with
# another one before finds this one, too.
for name in librocksdb.so librocksdb.so.10 libhawthorn_rocksdb.so.10; do
  ln -sf "$library" "$work/lib/$name"
done
engine=$(ldd "$library" | awk '/libhawthorn\.so/ { print $3 }')
export LD_LIBRARY_PATH=$work/lib:$(dirname "$engine")

rust() {
  cd "$work"
  if [ ! -d $CRATE ]; then
    curl -sSfL -o $CRATE.crate "https://static.crates.io/crates/rocksdb/$CRATE.crate"
    echo "$CRATE_SHA256  $CRATE.crate" | sha256sum -c -
    tar xzf $CRATE.crate
    rm -f $CRATE/rust-toolchain.toml
  fi
  cd $CRATE
  # Without the compressions, which are libraries of the crate's own.
  ROCKSDB_LIB_DIR=$work/lib CARGO_TARGET_DIR=$work/target \
    cargo test --no-fail-fast --tests --no-default-features --features bindgen-runtime \
    > "$work/rust.log" 2>&1 || true
  awk '/^test result:/ { passed += $4; failed += $6 }
       END { print "rust: " passed " passed, " failed " failed" }' "$work/rust.log"
}

# grocksdb VERSION SUM NAME INCLUDE: each test in a process of its own, since one may end it.
grocksdb() {
  cd "$work"
  local version=$1 sum=$2 name=$3 include=$4 passed=0 failed=0 found
  found=$(go mod download -json "$GROCKSDB@$version")
  grep -q "\"Sum\": \"$sum\"" <<< "$found" || { echo "$name: another sum"; exit 1; }
  if [ ! -d "$name" ]; then
    cp -r "$(sed -n 's/.*"Dir": "\(.*\)".*/\1/p' <<< "$found")" "$name"
    chmod -R u+w "$name"
  fi
  if [ "$include" = own ]; then
    mkdir -p "$name/include/rocksdb"
    cp "$name/c.h" "$name/include/rocksdb/c.h"
    include=$work/$name/include
  fi
  cd "$name"
  CGO_CFLAGS="-O1 -I$include" CGO_LDFLAGS="-L$work/lib -lrocksdb" \
    go test -c -tags grocksdb_clean_link -o "../$name.test" .
  : > "../$name.log"
  for test in $("../$name.test" -test.list . | grep '^Test'); do
    if "../$name.test" -test.run "^$test\$" -test.timeout 60s >> "../$name.log" 2>&1; then
      passed=$((passed + 1))
    else
      failed=$((failed + 1))
      echo "=== FAILED $test" >> "../$name.log"
    fi
  done
  echo "$name: $passed passed, $failed failed"
}

for which in "$@"; do
  case $which in
    rust) (rust) ;;
    go10) (grocksdb $GO10 $GO10_SUM go10 "$here/include") ;;
    go7) (grocksdb $GO7 $GO7_SUM go7 own) ;;
    *) echo "unknown: $which"; exit 2 ;;
  esac
done
