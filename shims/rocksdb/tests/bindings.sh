#!/usr/bin/env bash
# Runs the tests of other languages' bindings of RocksDB with this library in its place. Which of
# them fail is in bindings.tsv, each with the reason; exits with 1 where others fail, or those pass.
# Not a part of the tests: it fetches the bindings by cargo and go.
#
#   bindings.sh LIBRARY [rust] [go10] [go7]     LIBRARY: libhawthorn_rocksdb.so; default: all
#
#   rust   crate rocksdb 0.24.0 (made for RocksDB 10.4.2), with the header of its own
#   go10   grocksdb v1.10.7 (for RocksDB 10.9), compiled with our header
#   go7    grocksdb v1.7.14 (for RocksDB 7.8), with the header of its own
#
# LIBRARY may be RocksDB's own, which tells what they do there. In its release builds: rust with
# 10.4.2 179 passed and 6 failed (5 expect the codecs of the crate's own copy, one a compiler's
# message), go10 with 10.10.1 84 passed, go7 with 7.8.3 66 passed. Debian's library has assertions,
# which go7 does not survive.
#
# Works in build/bindings. Needs cargo, go and libclang. Results of each test: build/bindings/*.log.
set -euo pipefail

CRATE=0.24.0
CRATE_SHA256=ddb7af00d2b17dbd07d82c0063e25411959748ff03e8d4f96134c2ff41fce34f
GROCKSDB=github.com/linxGnu/grocksdb
GO10=v1.10.7
GO10_SUM=h1:fCi4qvZWo04VgFwGWmO8HQJgUVounJBy+C2TMVPU/ho=
GO7=v1.7.14
GO7_SUM=h1:8lMZzyWeNP5lI0BIppX05DzmQzXj/Tgu82bgWYtowLY=

here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/../../scripts/download.sh"
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
  if [ ! -d rust ]; then
    mkdir -p fetch/src
    : > fetch/src/lib.rs
    cat > fetch/Cargo.toml <<END
[package]
name = "fetch"
version = "0.0.0"
[dependencies]
rocksdb = { version = "=$CRATE", default-features = false }
END
    (cd fetch && download crates.io cargo vendor --quiet --versioned-dirs > /dev/null)
    grep -q "\"package\":\"$CRATE_SHA256\"" "fetch/vendor/rocksdb-$CRATE/.cargo-checksum.json" ||
      { echo "rust: another checksum"; exit 1; }
    cp -r "fetch/vendor/rocksdb-$CRATE" rust
    rm -rf fetch rust/rust-toolchain.toml
  fi
  cd rust
  # Without the compressions, which are libraries of the crate's own.
  ROCKSDB_LIB_DIR=$work/lib CARGO_TARGET_DIR=$work/target \
    cargo test --no-fail-fast --tests --no-default-features --features bindgen-runtime \
    > "$work/rust.log" 2>&1 || true
  # A name is one of its file, which cargo tells before: "Running tests/test_db.rs (...)".
  awk '/^ *Running / { sub(/.*\//, "", $2); file = $2; sub(/\.rs$/, "", file) }
       /^test [^ ]+ \.\.\. (ok|FAILED)$/ {
         print ($NF == "ok" ? "passed" : "failed") " " file "::" $2 }' \
    "$work/rust.log" | compare rust
}

# compare BINDING: lines of "passed NAME" and "failed NAME" against bindings.tsv
compare() {
  local results=$work/$1.results
  sort > "$results"
  echo "$1: $(grep -c ^passed "$results") passed, $(grep -c ^failed "$results" || true) failed"
  diff \
    <(awk -F '\t' -v binding="$1" '$1 == binding { print $2 }' "$here/tests/bindings.tsv" | sort) \
    <(sed -n 's/^failed //p' "$results")
}

# grocksdb VERSION SUM NAME INCLUDE: each test in a process of its own, since one may end it.
grocksdb() {
  cd "$work"
  local version=$1 sum=$2 name=$3 include=$4 found
  found=$(download "the Go module proxy" go mod download -json "$GROCKSDB@$version")
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
      echo "passed $test"
    else
      echo "failed $test"
    fi
  done | compare "$name"
}

code=0
for which in "$@"; do
  case $which in
    rust) rust & ;;
    go10) grocksdb $GO10 $GO10_SUM go10 "$here/include" & ;;
    go7) grocksdb $GO7 $GO7_SUM go7 own & ;;
    *) echo "unknown: $which"; exit 2 ;;
  esac
  wait $! || code=1
done
exit "$code"
