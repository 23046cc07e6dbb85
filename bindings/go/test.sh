#!/bin/bash
# Builds the Go binding against an installed library, and runs its tests, its example and its bench:
#   test.sh PREFIX
# Everything is built in build/bindings/go of the checkout. Exits with 3 where there is no Go.
set -euo pipefail

if [ $# -ne 1 ]; then
  echo "usage: test.sh PREFIX" >&2
  exit 2
fi
prefix=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$here/../.." && pwd)/build/bindings/go

if ! command -v go >/dev/null || ! command -v "${CC:-cc}" >/dev/null; then
  echo "bindings go: go and a C compiler are needed (apt-get install golang gcc)"
  exit 3
fi
mkdir -p "$build/tmp"
export GOCACHE=$build/cache GOPATH=$build/path GOTMPDIR=$build/tmp TMPDIR=$build/tmp
export GOFLAGS="-buildvcs=false -mod=readonly" GOTOOLCHAIN=local GOPROXY=off GOWORK=off
export CGO_ENABLED=1
export CGO_CFLAGS="-O2 -I$prefix/include"
export CGO_LDFLAGS="-L$prefix/lib -Wl,-rpath,$prefix/lib"

failed=0
# Runs a part; the number of its lines that match a pattern is how many, and none is a failure.
part() {
  local what=$1 unit=$2 pattern=$3 log count
  shift 3
  log=$build/${what// /_}.log
  if (cd "$here" && "$@") >"$log" 2>&1 && count=$(grep -c -- "$pattern" "$log"); then
    echo "passed bindings go: $what, $count $unit"
  else
    cat "$log"
    echo "FAILED bindings go: $what"
    failed=1
  fi
}

# shellcheck disable=SC2317 # called by part
formatted() {
  local unformatted
  unformatted=$(gofmt -l .)
  [ -z "$unformatted" ] || { echo "not as gofmt has it: $unformatted"; return 1; }
  find . -name '*.go'
}
# shellcheck disable=SC2317
short_bench() {
  go build -o "$build/bench" ./bench && rm -rf "$build/bench.db" && "$build/bench" "$build/bench.db"
}

part format files '\.go$' formatted
part vet packages '^hawthorn' bash -c 'go vet ./... && go list ./...'
part tests tests '^--- PASS' go test -count=1 -v .
part 'tests of the example' tests '^--- PASS' go test -count=1 -v ./examples/jobqueue
part 'pointers checked' tests '^--- PASS' \
  env GOEXPERIMENT=cgocheck2 go test -count=1 -v \
  -run 'Model|MultiGet|Parts|Pointers|Orders|Replica|Values' .
part bench rates '^[a-z_]* [0-9]*$' short_bench
rm -rf "$build/bench.db"
exit "$failed"
