#!/usr/bin/env bash
# Looks for tests that fail by chance: because the machine is slow or does other things, because
# another test uses the same port, directory or name, or because threads came in another order.
#
#   scripts/chance.sh load N [STAGE]...       the stages of scripts/test.py (release, asan and tsan)
#                                             N times, beside processes that take all processors
#   scripts/chance.sh repeat N [PRESET [PATTERN]]
#                                             each line of tests/waits.txt (those that match the
#                                             regular expression) N times beside the same, as many
#                                             at once as HAWTHORN_TEST_JOBS says (4), each with a
#                                             seed of its own (HAWTHORN_SEED); builds what these
#                                             lines need in the preset (release)
#   scripts/chance.sh delays [STAGE]...       the stages (asan and tsan) once, with random delays at
#                                             the seams of src/os (src/os/delays.h); the seed is
#                                             HAWTHORN_DELAYS, or a new one, which is printed
#
# The number of tests and of failures is added to docs/reliability-totals.tsv. One line for each
# stage or program says `passed WHAT` or `FAILED WHAT`; the last line is `N passed, N failed`. Logs
# of what failed stay in build/chance. Exits with 1 when anything failed. The processes that take
# the processors, HAWTHORN_BURNERS of them (as many as there are processors, at least two), end with
# this script.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. scripts/campaign.sh

logs=$PWD/build/chance
burners=()
mkdir -p "$logs"

# An interruption, too, leaves neither processes nor the folders of tests.
clean_up() {
  [ ${#burners[@]} -eq 0 ] || kill "${burners[@]}" 2>/dev/null
  rm -rf "$logs/run-$$-"*
}
trap clean_up EXIT
trap 'exit 130' INT TERM

usage() {
  sed -n '2,/^set /{/^set /d; s/^# \{0,1\}//; p}' "$0" >&2
  exit 2
}

is_count() { [[ $1 =~ ^[1-9][0-9]*$ ]]; }

start_burners() {
  local count=${HAWTHORN_BURNERS:-$(($(nproc) < 2 ? 2 : $(nproc)))} i
  for ((i = 0; i < count; ++i)); do
    bound bash -c 'while :; do :; done' &
    burners+=($!)
  done
}

# run_stage TOTAL NAME STAGE: one stage of scripts/test.py, counted under TOTAL
run_stage() {
  local total=$1 name=$2 stage=$3 started=$SECONDS log=$logs/$2.log summary good bad
  bound scripts/test.py "$stage" >"$log" 2>&1
  local code=$?
  summary=$(tail -n 1 "$log")
  if [[ ! $summary =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed(,\ [0-9]+\ skipped)?$ ]]; then
    add "$total" 0 1
    fail "$name: no summary, it ended with $code; see $log"
    return
  fi
  good=${BASH_REMATCH[1]}
  bad=${BASH_REMATCH[2]}
  add "$total" "$((good + bad))" "$bad"
  if [ "$code" -eq 0 ] && [ "$bad" -eq 0 ]; then
    pass "$name: $good tests ($((SECONDS - started)) s)"
    rm -f "$log"
  else
    grep '^FAILED ' "$log" | sed 's/^/  /'
    fail "$name: $bad of $((good + bad)) tests; see $log"
  fi
}

load() {
  local count=$1 i stage
  shift
  [ $# -gt 0 ] || set -- release asan tsan
  start_burners
  for ((i = 1; i <= count; ++i)); do
    for stage in "$@"; do run_stage chance_load "load-$stage-$i" "$stage"; done
  done
}

delays() {
  local stage
  [ $# -gt 0 ] || set -- asan tsan
  for stage in "$@"; do
    case $stage in
      debug | asan | tsan) ;;
      *)
        echo "chance: builds of the stage $stage have no test points, and so no delays" >&2
        exit 2
        ;;
    esac
  done
  export HAWTHORN_DELAYS=${HAWTHORN_DELAYS:-$(date +%s)}
  echo "HAWTHORN_DELAYS=$HAWTHORN_DELAYS"
  for stage in "$@"; do run_stage chance_delays "delays-$stage-$HAWTHORN_DELAYS" "$stage"; done
}

# once TREE LOG SEED PROGRAM FILTER: one run, in a folder of its own; its log stays if it fails
once() {
  local tree=$1 log=$2 seed=$3 program=$4 filter=$5 folder code
  folder=$(mktemp -d "$logs/run-$$-XXXXXX") || return 1
  local -x TMPDIR=$folder TEST_TMPDIR=$folder HAWTHORN_SEED=$seed
  if [ "$program" = ctest ]; then
    bound timeout 900 ctest --test-dir "$tree" --no-tests=error --output-on-failure --timeout 900 \
      -R "^${filter//./\\.}\$" >"$log" 2>&1
  else
    bound timeout 900 "$tree/$program" --gtest_filter="$filter" >"$log" 2>&1
  fi
  code=$?
  rm -rf "$folder"
  [ "$code" -ne 0 ] || rm -f "$log"
  return "$code"
}

# repeat_line COUNT TREE PROGRAM FILTER
repeat_line() {
  local count=$1 tree=$2 program=$3 filter=$4 started=$SECONDS i bad=0 name
  local jobs=${HAWTHORN_TEST_JOBS:-4}
  name=$(basename "$program")-${filter//[^A-Za-z0-9_]/_}
  name=${name:0:80}
  if [ "$program" != ctest ] &&
    ! "$tree/$program" --gtest_list_tests --gtest_filter="$filter" | grep -q '^  '; then
    fail "repeat $program $filter: there is no such test"
    return
  fi
  # The processes that take the processors never end, so `wait -n` waits for a run.
  for ((i = 1; i <= count; ++i)); do
    if ((i > jobs)); then wait -n || bad=$((bad + 1)); fi
    once "$tree" "$logs/$name-$i.log" "$i" "$program" "$filter" &
  done
  for ((i = count > jobs ? jobs : count; i > 0; --i)); do wait -n || bad=$((bad + 1)); done
  add chance_repeats "$count" "$bad"
  if [ "$bad" -eq 0 ]; then
    pass "repeat $program $filter: $count times ($((SECONDS - started)) s)"
  else
    fail "repeat $program $filter: $bad of $count times; see $logs/$name-*.log"
  fi
}

repeat() {
  local count=$1 preset=${2:-release} pattern=${3:-.} program filter lines=() targets=()
  local tree=build/$preset
  if ! { shims/sqlite/fetch.sh debian build/sqlite && cmake --preset "$preset"; } \
    >"$logs/build.log" 2>&1; then
    tail -n 20 "$logs/build.log"
    fail "configuration"
    return
  fi
  local shims
  shims=$(grep -c '^HAWTHORN_BUILD_SHIMS:.*=ON$' "$tree/CMakeCache.txt")
  while read -r program filter; do
    if [[ $program == shims/* ]] && [ "$shims" -eq 0 ]; then continue; fi
    lines+=("$program $filter")
    if [ "$program" = ctest ]; then targets+=(all); else targets+=("$(basename "$program")"); fi
  done < <(grep -Ev '^(#|$)' tests/waits.txt | grep -E "$pattern")
  if [ ${#lines[@]} -eq 0 ]; then
    fail "repeat: no line of tests/waits.txt matches $pattern"
    return
  fi
  readarray -t targets < <(printf '%s\n' "${targets[@]}" | sort -u)
  if ! cmake --build "$tree" -j "${HAWTHORN_TEST_JOBS:-$(nproc)}" --target "${targets[@]}" \
    >"$logs/build.log" 2>&1; then
    tail -n 20 "$logs/build.log"
    fail "build"
    return
  fi
  start_burners
  for line in "${lines[@]}"; do
    read -r program filter <<<"$line"
    repeat_line "$count" "$tree" "$program" "$filter"
  done
}

what=${1:-}
[ $# -eq 0 ] || shift
case $what in
  load) is_count "${1:-}" || usage; load "$@" ;;
  repeat) is_count "${1:-}" || usage; repeat "$@" ;;
  delays) delays "$@" ;;
  *) usage ;;
esac
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
