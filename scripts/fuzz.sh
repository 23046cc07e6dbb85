#!/usr/bin/env bash
# Runs the fuzz targets of build/fuzz (cmake --preset fuzz; cmake --build --preset fuzz), each for
# some seconds: HAWTHORN_FUZZ_SECONDS, 10 by default; so many at once as there are processors, or
# HAWTHORN_TEST_JOBS. With names as arguments, only those. With HAWTHORN_FUZZ_SEED, what a target
# tries follows from it and from the inputs that are there. New inputs are kept in
# build/fuzz/corpus, findings in build/fuzz/findings (docs/reliability.md).
#
# The target `canary` has a planted bug and must fail within a minute. One line for each target says
# `passed TARGET` or `FAILED TARGET`; exits with 1 when one failed. Whoever ends the script ends its
# targets.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

seconds=${HAWTHORN_FUZZ_SECONDS:-10}
jobs=${HAWTHORN_TEST_JOBS:-$(nproc)}
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  for folder in fuzz/corpus/*/; do
    targets+=("$(basename "$folder")")
  done
  targets+=(canary)
fi

findings=build/fuzz/findings
mkdir -p "$findings"
failed=0
declare -A running=() # targets by process

# start TARGET SECONDS CORPUS...: what libFuzzer says is in build/fuzz/TARGET.log. The process is
# `timeout`, which ends the target with itself, and is ended when this script is, even by SIGKILL.
start() {
  local target=$1 time=$2
  shift 2
  setpriv --pdeathsig TERM timeout --kill-after=10 $((time + 120)) \
    "build/fuzz/fuzz/fuzz_$target" -max_total_time="$time" -max_len=2048 \
    -timeout=20 -rss_limit_mb=4096 -seed="${HAWTHORN_FUZZ_SEED:-0}" \
    -artifact_prefix="$findings/$target-" "$@" \
    >"build/fuzz/$target.log" 2>&1 &
  running[$!]=$target
}

end_all() {
  trap - EXIT
  [ ${#running[@]} -eq 0 ] || kill -TERM "${!running[@]}" 2>/dev/null
  wait
}
trap end_all EXIT
trap 'exit 143' TERM HUP
# Whoever started the script is to see that it was interrupted.
trap 'end_all; trap - INT; kill -INT $$' INT

# ended TARGET CODE
ended() {
  local target=$1 code=$2 log=build/fuzz/$1.log
  if [ "$target" = canary ]; then
    # It must have found the bug, not just failed.
    if [ "$code" -ne 0 ] && grep -q 'does not hold' "$log" &&
      ls "$findings"/canary-crash-* >/dev/null 2>&1; then
      echo "passed fuzz canary: it was found"
      rm -f "$findings"/canary-*
    else
      echo "FAILED fuzz canary: the planted bug was not found; see $log"
      failed=1
    fi
  elif [ "$code" -eq 0 ]; then
    echo "passed fuzz $target: $(tail -n 1 "$log")"
  else
    tail -n 60 "$log"
    echo "FAILED fuzz $target: see $log and $findings/$target-*"
    failed=1
  fi
}

wait_for_one() {
  local process code
  wait -n -p process
  code=$?
  ended "${running[$process]}" "$code"
  unset "running[$process]"
}

for target in "${targets[@]}"; do
  [ ${#running[@]} -lt "$jobs" ] || wait_for_one
  if [ "$target" = canary ]; then
    rm -f "$findings"/canary-*
    start canary 60
    continue
  fi
  mkdir -p "build/fuzz/corpus/$target"
  start "$target" "$seconds" "build/fuzz/corpus/$target" "fuzz/corpus/$target"
done
while [ ${#running[@]} -gt 0 ]; do wait_for_one; done
exit "$failed"
