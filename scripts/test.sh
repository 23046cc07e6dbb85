#!/usr/bin/env bash
# All checks and tests; `make test` runs it. With names of presets as arguments, only those.
#
#   style     layering and style of the tree, and the tests of these checks
#   release   everything but the long tests: unit, model, kill, corruption, tools, packaging
#   asan      everything but the long and the packaging tests and those of tests/volume.txt, with
#             assertions and test points, under AddressSanitizer and UndefinedBehaviorSanitizer, by
#             the second compiler, which checks the lock annotations
#   tsan      the tests labelled `concurrency` under ThreadSanitizer
#   fuzz      when it is named: each fuzz target for HAWTHORN_FUZZ_SECONDS, 10 by default
#             (scripts/fuzz.sh); asan and release run changed inputs of each, the same ones always
#   reliability  when it is named: the longer runs of scripts/reliability.sh, fuzz targets included
#   long      when it is named: the tests labelled `long`
#   debug     what asan runs, and tests/volume.txt, without the sanitizers: for development, only
#             when it is named
#   compat, compat-asan
#             the tests labelled `compat`, of the shims, in the trees of release and asan: only when
#             named (`make test-compat`)
#   bindings  when it is named: the bindings of other languages (bindings/*/test.sh), on the library
#             of release as it is installed, and what the documents tell a new user to type; a
#             language that is not on the machine is installed
#   aarch64   when it is named (`make test-aarch64`): the library, the command and the tests of
#             them that are no matter of hours or of the machine, built for aarch64 and run under
#             qemu-user, but for what tests/aarch64_excluded.txt names; the compiler and the
#             libraries are installed (scripts/install_deps.sh aarch64)
#   docs      when it is named: the documentation site (scripts/docs.sh)
#   compat-long  when it is named: the tests labelled `compat-long`, minutes each, in release's tree
#
# With HAWTHORN_TEST_MINUTES, a stage that would not end within so many minutes, judged by what
# those before it took, is left out, and a line `NOT RUN` says so. `reliability` is ended four
# minutes behind that, and a line says that it was.
#
# At the end stand the times of the stages and the names of the tests that failed. The last line
# is `N passed, N failed`; a configuration or a build that fails counts as one failed test. Exits
# with 1 when anything failed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

jobs=${HAWTHORN_TEST_JOBS:-$(nproc)}
stages=("$@")
[ ${#stages[@]} -gt 0 ] || stages=(style release asan tsan)
passed=0
failed=0
failures=()
times=()
left_out=()
late="it would not have ended within ${HAWTHORN_TEST_MINUTES:-} minutes"
weighed=0 # of the stages that were run
spent=0   # seconds on those

note_failure() {
  failed=$((failed + 1))
  failures+=("$1")
}

run_style() {
  local script
  for script in tests/tidy/layering_test.py tests/tidy/style_test.py tests/tidy/breaks_test.py; do
    if python3 -B "$script"; then
      passed=$((passed + 1))
    else
      note_failure "style: $script"
    fi
  done
}

# longest LOG: the names and seconds of the tests that took longest, on one line
longest() {
  sed -nE 's/.* Test +#[0-9]+: ([^ ]+) .* ([0-9.]+) sec$/\2 \1/p' "$1" | sort -rn | head -n 12 |
    tr '\n' ' '
}

# run_preset PRESET TARGET CTEST_ARGUMENTS...
run_preset() {
  local preset=$1 target=$2
  shift 2
  local tree=build/${preset/#compat-/} started=$SECONDS
  tree=${tree/%compat/release}
  local log=$tree/$preset-test.log
  mkdir -p "$tree"
  cmake --preset "$preset" || { note_failure "$preset: configuration"; return; }
  cmake --build --preset "$preset" --target "$target" -j "$jobs" |
    tee "$tree/$preset-build.log" || { note_failure "$preset: build"; return; }
  if grep -q 'warning:' "$tree/$preset-build.log"; then
    note_failure "$preset: compiler warnings"
  fi
  times+=("$preset: build $((SECONDS - started)) s")
  started=$SECONDS
  # The defaults of AddressSanitizer, at two thirds of the time: fewer frames of where memory was
  # taken, less of what was freed kept, no look for uses of a stack frame that was left.
  local -x ASAN_OPTIONS=malloc_context_size=8:quarantine_size_mb=16:detect_stack_use_after_return=0
  ctest --test-dir "$tree" -j "$jobs" --no-tests=error --output-on-failure "$@" | tee "$log"
  local code=${PIPESTATUS[0]}
  times+=("$preset: tests $((SECONDS - started)) s; the longest: $(longest "$log")")

  # "98% tests passed, 2 tests failed out of 100"
  local summary bad all name
  summary=$(grep -E '^[0-9]+% tests passed' "$log" | tail -n 1)
  read -r bad all < <(sed -E 's/.*, ([0-9]+) tests? failed out of ([0-9]+).*/\1 \2/' <<<"$summary")
  if [ -z "${all:-}" ]; then
    note_failure "$preset: ctest gave no summary"
    return
  fi
  passed=$((passed + all - bad))
  failed=$((failed + bad))
  if [ "$bad" -gt 0 ]; then
    while read -r name; do
      failures+=("$preset: $name")
    done < <(sed -nE '/\(Skipped\)$/d; s/^\t *[0-9]+ - (.*\))$/\1/p' "$log")
  elif [ "$code" -ne 0 ]; then
    note_failure "$preset: ctest ended with $code"
  fi
}

# SQLite's source for the library with its API, which is in no package for builds. Without it that
# library and its tests are left out.
fetch_sqlite() {
  shims/sqlite/fetch.sh debian build/sqlite ||
    left_out+=("hawthorn-sqlite: its source could not be fetched")
}

# count_lines LOG CODE NAME: what a script has said of its parts, a line for each
count_lines() {
  local line before=$failed
  while read -r line; do
    case $line in
      "passed "*) passed=$((passed + 1)) ;;
      "FAILED "*) note_failure "${line#FAILED }" ;;
    esac
  done <"$1"
  if [ "$2" -ne 0 ] && [ "$failed" -eq "$before" ]; then
    note_failure "$3 ended with $2"
  fi
}

run_fuzz() {
  local started=$SECONDS
  mkdir -p build/fuzz
  cmake --preset fuzz || { note_failure "fuzz: configuration"; return; }
  cmake --build --preset fuzz -j "$jobs" | tee build/fuzz/build.log ||
    { note_failure "fuzz: build"; return; }
  times+=("fuzz: build $((SECONDS - started)) s")
  started=$SECONDS
  scripts/fuzz.sh | tee build/fuzz/test.log
  count_lines build/fuzz/test.log "${PIPESTATUS[0]}" scripts/fuzz.sh
  times+=("fuzz: runs $((SECONDS - started)) s")
}

run_reliability() {
  local limit=() code
  if [ -n "${HAWTHORN_TEST_MINUTES:-}" ]; then
    limit=(timeout $(((HAWTHORN_TEST_MINUTES + 4) * 60 - SECONDS)))
  fi
  mkdir -p build/reliability
  ${limit[@]+"${limit[@]}"} scripts/reliability.sh | tee build/reliability/test.log
  code=${PIPESTATUS[0]}
  if [ ${#limit[@]} -gt 0 ] && [ "$code" -eq 124 ]; then
    left_out+=("the rest of reliability: $late")
    code=0
  fi
  count_lines build/reliability/test.log "$code" scripts/reliability.sh
}

run_bindings() {
  local prefix=$PWD/build/bindings/prefix started=$SECONDS script name code
  scripts/install_deps.sh bindings || note_failure "bindings: installing what is missing"
  if ! cmake --preset release || ! cmake --build --preset release -j "$jobs" ||
    ! cmake --install build/release --prefix "$prefix" >/dev/null; then
    note_failure "bindings: the library"
    return
  fi
  for script in bindings/*/test.sh; do
    name=$(basename "$(dirname "$script")")
    timeout 600 "$script" "$prefix" 2>&1 | tee "build/bindings/$name.log"
    code=${PIPESTATUS[0]}
    if [ "$code" -eq 3 ]; then
      left_out+=("bindings of $name: $(tail -n 1 "build/bindings/$name.log")")
      continue
    fi
    count_lines "build/bindings/$name.log" "$code" "bindings of $name"
  done
  python3 -B tests/docs/first_key_test.py "$prefix" | tee build/bindings/first_key.log
  code=${PIPESTATUS[0]}
  while read -r name; do left_out+=("${name#skipped }"); done \
    < <(grep '^skipped ' build/bindings/first_key.log)
  count_lines build/bindings/first_key.log "$code" tests/docs/first_key_test.py
  times+=("bindings: $((SECONDS - started)) s")
}

# names_in FILE: one regular expression of those that it has, one in a line.
names_in() { grep -Ev '^(#|$)' "$1" | paste -s -d '|'; }

run_aarch64() {
  if ! scripts/install_deps.sh aarch64; then
    note_failure "aarch64: installing what is missing"
    return
  fi
  run_preset aarch64 all -LE '^(long|package|tidy)$' -E "$(names_in tests/aarch64_excluded.txt)"
}

# weight STAGE: the seconds that it takes on two processors that have nothing else to do; 0: few
weight() {
  case $1 in
    release) echo 1080 ;;
    asan | debug) echo 1400 ;;
    tsan) echo 430 ;;
    compat) echo 420 ;;
    compat-asan) echo 640 ;;
    bindings) echo 480 ;;
    reliability) echo 1100 ;;
    long) echo 400 ;;
    compat-long) echo 800 ;;
    aarch64) echo 1400 ;;
    *) echo 0 ;;
  esac
}

# fits STAGE: whether it would end in time on a machine that goes on as it has until now
fits() {
  [ -n "${HAWTHORN_TEST_MINUTES:-}" ] && [ "$weighed" -gt 0 ] || return 0
  local needed=$(($(weight "$1") * spent / weighed))
  [ $((SECONDS + needed)) -le $((HAWTHORN_TEST_MINUTES * 60)) ]
}

scripts/install_deps.sh || note_failure "installing what is missing"

for stage in "${stages[@]}"; do
  if ! fits "$stage"; then
    left_out+=("$stage: $late")
    continue
  fi
  echo "== $stage"
  started=$SECONDS
  case $stage in
    style) run_style ;;
    release) run_preset release all -LE '^long$' ;;
    long) run_preset release all -L '^long$' ;;
    debug) run_preset "$stage" all -LE '^(long|package|tidy)$' ;;
    asan) run_preset "$stage" all -LE '^(long|package|tidy)$' -E "$(names_in tests/volume.txt)" ;;
    tsan) run_preset tsan hawthorn_concurrency_tests -L '^concurrency$' -LE '^long$' ;;
    compat | compat-asan)
      fetch_sqlite
      run_preset "$stage" hawthorn_compat_tests -L '^compat$'
      ;;
    compat-long)
      fetch_sqlite
      run_preset compat hawthorn_compat_tests -L '^compat-long$'
      ;;
    fuzz) run_fuzz ;;
    aarch64) run_aarch64 ;;
    bindings) run_bindings ;;
    docs)
      if scripts/docs.sh; then
        passed=$((passed + 1))
      else
        note_failure "docs: scripts/docs.sh"
      fi
      ;;
    reliability) run_reliability ;;
    *) note_failure "$stage: no such stage" ;;
  esac
  took=$((SECONDS - started))
  echo "== $stage took $took s"
  if [ "$(weight "$stage")" -gt 0 ]; then
    weighed=$((weighed + $(weight "$stage")))
    spent=$((spent + took))
  fi
done

for line in "${times[@]+"${times[@]}"}"; do
  echo "$line"
done

echo "All stages took $SECONDS s."
for line in "${left_out[@]+"${left_out[@]}"}"; do
  echo "NOT RUN $line"
done
for failure in "${failures[@]+"${failures[@]}"}"; do
  echo "FAILED $failure"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
