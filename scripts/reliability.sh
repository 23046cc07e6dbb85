#!/usr/bin/env bash
# Longer runs of what `make test` runs briefly: simulated crashes, real SIGKILLs, power cuts on real
# files, fuzz targets, shortages of the environment.
#
#   scripts/reliability.sh            2,000 seeds, 500 kills, 1,000 power cuts, 60 s of
#                                     each fuzz target
#   scripts/reliability.sh gate       200 seeds, 50 kills and 100 power cuts, always the same
#                                     ones: the part that the gate runs
#   scripts/reliability.sh campaign [MINUTES] [seeds|kills|cuts|fuzz|environment]...
#                                     goes on for so many minutes (60) with seeds that no campaign
#                                     has run before, of these parts or of all; adds up in
#                                     docs/reliability-totals.tsv; of fuzzing, the seconds of
#                                     processor time that the targets took
#
# Builds what it needs of the presets release and, but for `gate`, fuzz. One line for each part says
# `passed PART` or `FAILED PART`, with the command that repeats it, and how long it took; the last
# line is `N passed, N failed`. What a part that failed has left, databases, recordings and its log,
# stays in build/reliability/PART-SEED; inputs of fuzz targets stay in build/fuzz/findings. Exits
# with 1 when something failed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

. scripts/campaign.sh

jobs=${HAWTHORN_TEST_JOBS:-$(nproc)}
logs=$PWD/build/reliability
mkdir -p "$logs"

# Programs of tests/environment, one for each API; SQLite's where its source is.
environment=(environment_native environment_c environment_rocksdb environment_lmdb environment_mdbx)
[ ! -f build/sqlite/sqlite3.c ] || environment+=(environment_sqlite)

build_crashes() {
  cmake --preset release >/dev/null &&
    cmake --build --preset release -j "$jobs" --target simulate kills power_cuts \
      "${environment[@]}" >"$logs/build.log" 2>&1
}

build() {
  scripts/install_deps.sh core test &&
    build_crashes &&
    { [ "${1:-}" = gate ] ||
      { cmake --preset fuzz >/dev/null &&
        cmake --build --preset fuzz -j "$jobs" >>"$logs/build.log" 2>&1; }; }
}

# run_program PART FIRST_SEED PROGRAM ARGUMENTS...: its last line tells what it did. The program
# works in the folder in which its log is.
run_program() {
  local part=$1 first=$2 program=build/release/tests/$3 started=$SECONDS
  local folder="$logs/$part-$first"
  shift 3
  rm -rf "$folder"
  mkdir -p "$folder"
  if TMPDIR=$folder bound "$program" --first-seed "$first" "$@" >"$folder/log" 2>&1; then
    pass "$part: $(tail -n 1 "$folder/log") ($((SECONDS - started)) s)"
    rm -rf "$folder"
  else
    tail -n 40 "$folder/log"
    fail "$part: $program --first-seed $first $* ($((SECONDS - started)) s); see $folder"
    return 1
  fi
}

# Each with FIRST COUNT; ten kills belong to a seed, and 25 cuts.
run_seeds() { run_program seeds "$1" sim/simulate --seeds "$2" --jobs "$jobs"; }
run_kills() { run_program kills "$1" crash/kills --kills "$2"; }
run_cuts() { run_program cuts "$1" crash/power_cuts --cuts "$2"; }

# run_environment FIRST COUNT: so many cases of each API
run_environment() {
  local bad=0 program
  for program in "${environment[@]}"; do
    run_program "$program" "$1" "environment/$program" --cases "$2" || bad=1
  done
  return "$bad"
}

# run_fuzz SECONDS TARGET...: of a target that failed the log is kept beside the others' folders
run_fuzz() {
  local seconds=$1 started=$SECONDS before=$failed line target
  shift
  HAWTHORN_FUZZ_SECONDS=$seconds bound scripts/fuzz.sh "$@" >"$logs/fuzz.log" 2>&1
  local code=$?
  while read -r line; do
    case $line in
      "passed fuzz "*) pass "${line#passed }" ;;
      "FAILED fuzz "*)
        fail "${line#FAILED }"
        target=${line#FAILED fuzz }
        target=${target%%:*}
        tail -n 60 "build/fuzz/$target.log"
        cp "build/fuzz/$target.log" "$logs/fuzz-$target-$(date +%Y%m%dT%H%M%S).log"
        ;;
    esac
  done <"$logs/fuzz.log"
  if [ "$code" -ne 0 ] && [ "$failed" -eq "$before" ]; then
    tail -n 20 "$logs/fuzz.log"
    fail "fuzz: scripts/fuzz.sh ended with $code"
  fi
  echo "fuzzing took $((SECONDS - started)) s"
  return "$code"
}

# Sets `used` to the processor time in seconds, user and system, of all processes that this script
# has waited for. Not to be called in a subshell, which has waited for none.
count_used() {
  times >"$logs/times"
  used=$(awk 'NR == 2 {
    split($1, u, /[ms]/)
    split($2, s, /[ms]/)
    print int((u[1] + s[1]) * 60 + u[2] + s[2])
  }' "$logs/times")
}

# Each part goes on where the last campaign has ended.
campaign_seeds() {
  local bad=0
  run_seeds "$(($(total seeds) + 1))" 500 || bad=1
  add seeds 500 "$bad"
}
campaign_kills() {
  local bad=0
  run_kills "$(($(total kills) / 10 + 1))" 100 || bad=1
  add kills 100 "$bad"
}
campaign_cuts() {
  local bad=0
  run_cuts "$(($(total power_cuts) / 25 + 1))" 100 || bad=1
  add power_cuts 100 "$bad"
}
campaign_environment() {
  local bad=0 cases=20
  run_environment "$(($(total environment) / ${#environment[@]} + 1))" "$cases" || bad=1
  add environment "$((cases * ${#environment[@]}))" "$bad"
}
# So many targets as run at once, one after the other in turn.
turn=$RANDOM
campaign_fuzz() {
  local bad=0 before i targets=() all=(fuzz/corpus/*/)
  for ((i = 0; i < jobs && i < ${#all[@]}; ++i, ++turn)); do
    targets+=("$(basename "${all[turn % ${#all[@]}]}")")
  done
  count_used
  before=$used
  run_fuzz 60 "${targets[@]}" || bad=1
  count_used
  add fuzz_seconds "$((used - before))" "$bad"
}

# campaign MINUTES PART...
campaign() {
  local end=$((SECONDS + $1 * 60)) part
  shift
  while [ "$SECONDS" -lt "$end" ]; do
    for part in "$@"; do "campaign_$part"; done
  done
  column -t "$totals"
}

parts=(seeds kills cuts fuzz environment)
minutes=60
if [ "${1:-}" = campaign ]; then
  [ $# -lt 2 ] || minutes=$2
  [ $# -lt 3 ] || parts=("${@:3}")
  for part in "${parts[@]}"; do
    case $part in
      seeds | kills | cuts | fuzz | environment) ;;
      *) echo "reliability: there is no part $part" >&2; exit 2 ;;
    esac
  done
fi

if ! build "${1:-}"; then
  tail -n 20 "$logs/build.log"
  fail "build"
elif [ "${1:-}" = campaign ]; then
  campaign "$minutes" "${parts[@]}"
elif [ "${1:-}" = gate ]; then
  run_seeds 1000000 200
  run_kills 1000000 50
  run_cuts 1000000 100
else
  # Other seeds than those of campaigns, and the same ones in every run.
  run_seeds 1000000 2000
  run_kills 1000000 500
  run_cuts 1000000 1000
  HAWTHORN_FUZZ_SEED=1 run_fuzz 60
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
