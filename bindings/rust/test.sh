#!/usr/bin/env bash
# Builds the Rust binding against an installed library, and runs all of its tests, its example and
# a short run of its benchmark: test.sh PREFIX. Exit codes: 0, 1 at a failure, 3 where there is no
# toolchain.
set -euo pipefail

if [[ $# -ne 1 ]]; then
  echo "usage: test.sh PREFIX" >&2
  exit 2
fi
prefix=$(cd "$1" && pwd)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$root/build/bindings/rust
if ! command -v cargo >/dev/null || ! command -v rustc >/dev/null; then
  echo "bindings rust: cargo and rustc are not installed"
  exit 3
fi
mkdir -p "$build"
scratch=$(mktemp -d "$build/test.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
export HAWTHORN_PREFIX=$prefix CARGO_TARGET_DIR=$build CARGO_BUILD_JOBS=${CARGO_BUILD_JOBS:-2}
export TMPDIR=$scratch RUST_BACKTRACE=0
cd "$here"
failed=0

# part NAME COMMAND...: runs it with its output in a file, which is shown where it fails.
part() {
  local name=$1
  shift
  if "$@" >"$scratch/$name.log" 2>&1; then
    return 0
  fi
  echo "FAILED bindings rust: $name"
  tail -n 60 "$scratch/$name.log"
  failed=1
  return 1
}

# counted NAME WHAT: how many tests passed.
counted() {
  local count
  count=$(sed -n 's/^test result: ok\. \([0-9]*\) passed.*/\1/p' "$scratch/$1.log" |
    awk '{ sum += $1 } END { print sum + 0 }')
  if [[ $count -eq 0 ]]; then
    echo "FAILED bindings rust: $1, no test ran"
    failed=1
  else
    echo "passed bindings rust: $2, $count"
  fi
}

if part tests cargo test --offline --lib --tests --examples; then
  counted tests "tests"
fi
if part documentation cargo test --offline --doc; then
  counted documentation "documentation (samples, and programs that must not compile)"
fi

# The tests build it as a test alone.
part example_build cargo build --offline --examples || true
# What the example is asked to do, and a line that it must print.
queue=$build/debug/examples/job_queue
steps=0
for step in \
  "added|queue add a first job" \
  "added|queue add b second job" \
  "there is one with this id|queue add b again" \
  "waiting 2, set aside 0|queue list" \
  "a: first job|queue work" \
  "waiting 0, set aside 0|queue list" \
  "done 199, set aside 1|demo demo" \
  "waiting 0, set aside 1|demo list"; do
  read -ra words <<<"${step#*|}"
  part example "$queue" "$scratch/${words[0]}" "${words[@]:1}" || continue
  if ! grep -qxF "${step%%|*}" "$scratch/example.log"; then
    echo "FAILED bindings rust: example, ${step#*|} did not print: ${step%%|*}"
    failed=1
    continue
  fi
  steps=$((steps + 1))
done
if [[ $steps -eq 8 ]]; then
  echo "passed bindings rust: example, $steps"
fi

if part bench cargo test --offline --bench columns -- "$scratch/bench" 5000; then
  rates=$(grep -cE '^(multi_get|scan)_(columns|objects) [0-9]+$' "$scratch/bench.log" || true)
  if [[ $rates -eq 4 ]]; then
    echo "passed bindings rust: bench, $rates"
  else
    echo "FAILED bindings rust: bench, $rates rates of 4"
    failed=1
  fi
fi

if command -v pkg-config >/dev/null && [[ -f $prefix/lib/pkgconfig/hawthorn.pc ]]; then
  if part pkg-config env -u HAWTHORN_PREFIX PKG_CONFIG_PATH="$prefix/lib/pkgconfig" \
    CARGO_TARGET_DIR="$build/pkg-config" cargo check --offline; then
    echo "passed bindings rust: found by pkg-config, 1"
  fi
fi
# Linked in as a whole.
if command -v pkg-config >/dev/null && [[ -f $prefix/lib/libhawthorn.a ]]; then
  if part static env HAWTHORN_STATIC=1 CARGO_TARGET_DIR="$build/static" \
    cargo build --offline --example job_queue &&
    part static_run env -u LD_LIBRARY_PATH "$build/static/debug/examples/job_queue" \
      "$scratch/static" add a job; then
    if ldd "$build/static/debug/examples/job_queue" | grep -q libhawthorn; then
      echo "FAILED bindings rust: the static build needs libhawthorn.so"
      failed=1
    else
      echo "passed bindings rust: linked statically, 1"
    fi
  fi
fi
if cargo fmt --version >/dev/null 2>&1; then
  if part format cargo fmt -- --check; then
    echo "passed bindings rust: format, 1"
  fi
  if command -v python3 >/dev/null && [[ -f $root/tests/c_api/abi.txt ]]; then
    if part declarations python3 scripts/declare.py --check "$root"; then
      echo "passed bindings rust: declarations are those of the C API, 1"
    fi
  fi
fi
if cargo clippy --version >/dev/null 2>&1; then
  if part clippy cargo clippy --offline --all-targets -- -D warnings; then
    echo "passed bindings rust: clippy, 1"
  fi
fi
exit "$failed"
