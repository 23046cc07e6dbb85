#!/usr/bin/env bash
# Longer runs of what `make test` runs briefly: simulated crashes, real SIGKILLs, power cuts on real
# files, fuzz targets.
#
#   scripts/reliability.sh            2,000 seeds, 500 kills, 1,000 power cuts, 60 s of
#                                     each fuzz target
#   scripts/reliability.sh campaign [MINUTES]
#                                     goes on for so many minutes (60) with seeds that no campaign
#                                     has run before; adds up in docs/reliability-totals.tsv
#
# Needs the presets release and fuzz, and builds them. One line for each part says `passed PART` or
# `FAILED PART`, with the command that repeats it; the last line is `N passed, N failed`. Exits with
# 1 when something failed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

jobs=${HAWTHORN_TEST_JOBS:-$(nproc)}
totals=docs/reliability-totals.tsv
simulate=build/release/tests/sim/simulate
kills=build/release/tests/crash/kills
power_cuts=build/release/tests/crash/power_cuts
logs=build/reliability
passed=0
failed=0
mkdir -p "$logs"

pass() { passed=$((passed + 1)); echo "passed $1"; }
fail() { failed=$((failed + 1)); echo "FAILED $1"; }

build() {
  scripts/install_deps.sh &&
    cmake --preset release >/dev/null &&
    cmake --build --preset release -j "$jobs" --target simulate kills power_cuts \
      >"$logs/build.log" 2>&1 &&
    cmake --preset fuzz >/dev/null &&
    cmake --build --preset fuzz -j "$jobs" >>"$logs/build.log" 2>&1
}

# run_program PART COMMAND...: its last line tells what it did
run_program() {
  local part=$1 log="$logs/$(basename "$2").log"
  shift
  if "$@" >"$log" 2>&1; then
    pass "$part: $(tail -n 1 "$log")"
  else
    tail -n 40 "$log"
    fail "$part: $*"
    return 1
  fi
}

# Each with FIRST COUNT; ten kills belong to a seed, and 25 cuts.
run_seeds() { run_program simulator "$simulate" --first-seed "$1" --seeds "$2" --jobs "$jobs"; }
run_kills() { run_program kills "$kills" --first-seed "$1" --kills "$2"; }
run_cuts() { run_program "power cuts" "$power_cuts" --first-seed "$1" --cuts "$2"; }

# run_fuzz SECONDS TARGET...
run_fuzz() {
  local seconds=$1 line
  shift
  HAWTHORN_FUZZ_SECONDS=$seconds scripts/fuzz.sh "$@" >"$logs/fuzz.log" 2>&1
  local code=$? before=$failed
  while read -r line; do
    case $line in
      "passed fuzz "*) pass "${line#passed }" ;;
      "FAILED fuzz "*) fail "${line#FAILED }" ;;
    esac
  done <"$logs/fuzz.log"
  if [ "$code" -ne 0 ] && [ "$failed" -eq "$before" ]; then
    tail -n 20 "$logs/fuzz.log"
    fail "fuzz: scripts/fuzz.sh ended with $code"
  fi
  return "$code"
}

total() { awk -v name="$1" -F '\t' '$1 == name {print $2}' "$totals"; }

# add NAME COUNT FAILED: the file is replaced as a whole, so an interruption leaves one or the other
add() {
  awk -v name="$1" -v count="$2" -v bad="$3" -F '\t' -v OFS='\t' \
    '$1 == name {$2 += count; $3 += bad} {print}' "$totals" >"$totals.new" &&
    mv "$totals.new" "$totals"
}

campaign() {
  local end=$((SECONDS + ${1:-60} * 60)) bad target
  local targets=()
  for target in fuzz/corpus/*/; do
    targets+=("$(basename "$target")")
  done
  local turn=0
  while [ "$SECONDS" -lt "$end" ]; do
    bad=0
    run_seeds "$(($(total seeds) + 1))" 500 || bad=1
    add seeds 500 "$bad"
    bad=0
    run_kills "$(($(total kills) / 10 + 1))" 100 || bad=1
    add kills 100 "$bad"
    bad=0
    run_cuts "$(($(total power_cuts) / 25 + 1))" 100 || bad=1
    add power_cuts 100 "$bad"
    bad=0
    run_fuzz 60 "${targets[$((turn % ${#targets[@]}))]}" || bad=1
    add fuzz_seconds 60 "$bad"
    turn=$((turn + 1))
  done
  column -t "$totals"
}

if ! build; then
  tail -n 20 "$logs/build.log"
  fail "build"
elif [ "${1:-}" = campaign ]; then
  campaign "${2:-60}"
else
  # Other seeds than those of campaigns, and the same ones in every run.
  run_seeds 1000000 2000
  run_kills 1000000 500
  run_cuts 1000000 1000
  run_fuzz 60
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
