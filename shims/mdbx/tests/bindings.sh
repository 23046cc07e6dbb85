#!/usr/bin/env bash
# Runs the tests of a Rust binding of libmdbx, the crate libmdbx, with this library in its place.
# Which of them fail is in bindings.tsv, each with the reason; exits with 1 where others fail, or
# those pass. Not a part of the tests: it fetches the binding by cargo.
#
#   bindings.sh LIBRARIES [mdbx13] [mdbx14]    default: both
#
#   mdbx13   crate libmdbx 0.6.6, made for mdbx-sys 13.11.0, with our header of 0.13
#   mdbx14   crate libmdbx 0.9.0, made for mdbx-sys 14.4.0, with our header of 0.14
#
# LIBRARIES: the folder with libhawthorn_mdbx13.so and libhawthorn_mdbx14.so; or `original`, which
# tells what the tests do with the source and the header that mdbx-sys has itself: all pass, 32 of
# mdbx13 and 93 of mdbx14.
#
# Works in build/bindings/mdbx13 and mdbx14. Needs cargo and libclang. Results of each test:
# build/bindings/mdbx13/test.log.
set -euo pipefail

CRATE13=0.6.6
CRATE13_SHA256=1da773dcce45661428e2b51ca984eb3c64c08f2aa54865397e4b77d1f61c9f07
SYS13=13.11.0
SYS13_SHA256=f4002b9ffed3dd01364ab005bca653a99b8f550ca4cd755470a9d3a31a44f466
CRATE14=0.9.0
CRATE14_SHA256=3022c15786202637cef2c24fcd296f8455d4b201db65f2bc94823b00d9d1f400
SYS14=14.4.0
SYS14_SHA256=1f7c4502adb435d9aee303b3675aafa3f2f70465fff32c64c37859ccf340fd48

here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/../../scripts/download.sh"
libraries=$1
if [ "$libraries" != original ]; then
  libraries=$(realpath "$libraries")
fi
shift
[ $# -gt 0 ] || set -- mdbx13 mdbx14

# vendored NAME VERSION SHA256: copies what was fetched to NAME.
vendored() {
  grep -q "\"package\":\"$3\"" "fetch/vendor/$1-$2/.cargo-checksum.json" ||
    { echo "$1 $2: another checksum"; exit 1; }
  rm -rf "$1"
  cp -r "fetch/vendor/$1-$2" "$1"
}

# crate NAME CRATE SHA256 SYS SHA256
crate() {
  local name=$1 work=$here/../../build/bindings/$1
  mkdir -p "$work"
  work=$(realpath "$work")
  cd "$work"
  if [ ! -d libmdbx ]; then
    mkdir -p fetch/src
    : > fetch/src/lib.rs
    cat > fetch/Cargo.toml <<END
[package]
name = "fetch"
version = "0.0.0"
[dependencies]
libmdbx = "=$2"
END
    (cd fetch && download crates.io cargo vendor --quiet --versioned-dirs > /dev/null)
    vendored mdbx-sys "$4" "$5"
    # It compiles no source, and links with the library of the folder in MDBX_LIBRARIES.
    sed -i -e '/let mut cc_builder = cc::Build::new();/,/compile("libmdbx.a");/c \
    println!("cargo:rustc-link-search=native={}", env::var("MDBX_LIBRARIES").unwrap());\
    println!("cargo:rustc-link-lib=dylib='"hawthorn_$name"'");\
    println!("cargo:rerun-if-changed={}", env::var("MDBX_INCLUDE").unwrap());\
    println!("cargo:rerun-if-env-changed=MDBX_LIBRARIES");' \
      -e 's|\.header(mdbx\.join("mdbx\.h")\.to_string_lossy())|'\
'.header(env::var("MDBX_INCLUDE").unwrap() + "/'"$name"'/mdbx.h")'\
'.clang_arg("-I".to_string() + \&env::var("MDBX_INCLUDE").unwrap() + "/common")|' \
      mdbx-sys/build.rs
    vendored libmdbx "$2" "$3"
    rm -rf fetch
  fi
  cd libmdbx
  local target=$work/target log=$work/test.log results=$work/results
  local command=(cargo test --no-fail-fast --all-features)
  if [ "$libraries" = original ]; then
    target=$work/original
    log=$work/original.log
    results=$work/original.results
  else
    command+=(--config "patch.crates-io.mdbx-sys.path='$work/mdbx-sys'")
    export MDBX_LIBRARIES=$libraries MDBX_INCLUDE=$here/include LD_LIBRARY_PATH=$libraries
  fi
  export CARGO_TARGET_DIR=$target
  # A test that ends the process fails, and so do those behind it: they are listed before.
  "${command[@]}" -- --list > "$log" 2>&1 || { echo "$name: does not compile"; exit 1; }
  timeout 1200 "${command[@]}" >> "$log" 2>&1 || true
  # A name is one of its file, which cargo tells before: "Running tests/cursor.rs (...)".
  awk '/^ *(Running|Doc-tests) / {
         file = $2; sub(/.*\//, "", file); sub(/\.rs$/, "", file)
         if ($1 == "Doc-tests") file = "doc" }
       sub(/: test$/, "") { result[file "::" $0] = "failed" }
       /^test .* \.\.\. (ok|FAILED|ignored.*)$/ {
         is = $0; sub(/.* \.\.\. /, "", is)
         sub(/^test /, ""); sub(/ \.\.\. .*/, ""); sub(/ - compile( fail)?$/, "")
         result[file "::" $0] = is == "ok" ? "passed" : is == "FAILED" ? "failed" : "ignored" }
       END { for (test in result) print result[test] " " test }' "$log" | sort > "$results"
  echo "$name: $(grep -c ^passed "$results") passed, $(grep -c ^failed "$results" || true) failed"
  if [ "$libraries" = original ]; then
    sed -n 's/^failed //p' "$results"
    return
  fi
  diff \
    <(awk -F '\t' -v crate="$name" '$1 == crate { print $2 }' "$here/tests/bindings.tsv" | sort) \
    <(sed -n 's/^failed //p' "$results")
}

code=0
for which in "$@"; do
  case $which in
    mdbx13) crate mdbx13 $CRATE13 $CRATE13_SHA256 $SYS13 $SYS13_SHA256 & ;;
    mdbx14) crate mdbx14 $CRATE14 $CRATE14_SHA256 $SYS14 $SYS14_SHA256 & ;;
    *) echo "unknown: $which"; exit 2 ;;
  esac
  wait $! || code=1
done
exit "$code"
