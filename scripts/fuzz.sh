#!/usr/bin/env bash
# Runs the fuzz targets of build/fuzz (cmake --preset fuzz; cmake --build --preset fuzz), each for
# some seconds: HAWTHORN_FUZZ_SECONDS, 10 by default. With names as arguments, only those. New
# inputs are kept in build/fuzz/corpus, findings in build/fuzz/findings (docs/reliability.md).
#
# The target `canary` has a planted bug and must fail within a minute. One line for each target says
# `passed TARGET` or `FAILED TARGET`; exits with 1 when one failed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

seconds=${HAWTHORN_FUZZ_SECONDS:-10}
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

# run TARGET SECONDS CORPUS...: what libFuzzer says is in build/fuzz/TARGET.log
run() {
  local target=$1 time=$2
  shift 2
  timeout $((time + 120)) "build/fuzz/fuzz/fuzz_$target" -max_total_time="$time" -max_len=2048 \
    -timeout=20 -rss_limit_mb=4096 -artifact_prefix="$findings/$target-" "$@" \
    >"build/fuzz/$target.log" 2>&1
}

for target in "${targets[@]}"; do
  if [ "$target" = canary ]; then
    rm -f "$findings"/canary-*
    # It must have found the bug, not just failed.
    if ! run canary 60 && grep -q 'does not hold' build/fuzz/canary.log &&
      ls "$findings"/canary-crash-* >/dev/null 2>&1; then
      echo "passed fuzz canary: it was found"
      rm -f "$findings"/canary-*
    else
      echo "FAILED fuzz canary: the planted bug was not found; see build/fuzz/canary.log"
      failed=1
    fi
    continue
  fi
  kept=build/fuzz/corpus/$target
  mkdir -p "$kept"
  if run "$target" "$seconds" "$kept" "fuzz/corpus/$target"; then
    echo "passed fuzz $target: $(tail -n 1 "build/fuzz/$target.log")"
  else
    tail -n 60 "build/fuzz/$target.log"
    echo "FAILED fuzz $target: see build/fuzz/$target.log and $findings/$target-*"
    failed=1
  fi
done
exit "$failed"
