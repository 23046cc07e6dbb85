#!/usr/bin/env bash
# Which lines and branches of src/ and include/ the tests reach: builds the preset `coverage`, runs
# its tests but for the long and the packaging ones, and writes build/coverage/report.txt, one line
# for each file. The last lines printed are the totals. With `report` as argument: the report alone,
# of the last run. Child processes that tests kill leave no counts.
set -euo pipefail
cd "$(dirname "$0")/.."

jobs=${HAWTHORN_TEST_JOBS:-$(nproc)}
build=build/coverage
if [ "${1:-}" != report ]; then
  scripts/install_deps.sh core test
  cmake --preset coverage
  cmake --build --preset coverage -j "$jobs"
  rm -rf "$build/profiles"
  # One file for each program: its processes add up their counts there.
  LLVM_PROFILE_FILE="$PWD/$build/profiles/%m.profraw" ctest --test-dir "$build" -j "$jobs" \
    --no-tests=error --output-on-failure -LE '^(long|package|tidy)$'
fi

# The first one without -object: it would be taken for a source else.
objects=()
while read -r program; do
  [ ${#objects[@]} -eq 0 ] || objects+=(-object)
  objects+=("$program")
done < <(find "$build" -type f -perm -u+x ! -name '*.so*' ! -path '*/CMakeFiles/*' ! -name '*.py')
llvm-profdata-19 merge -sparse "$build"/profiles/*.profraw -o "$build/tests.profdata"
tests='(_test|_model|_support|_fixture)\w*\.(cc|h)$'
llvm-cov-19 report "${objects[@]}" -instr-profile "$build/tests.profdata" --show-branch-summary \
  --show-region-summary=false -ignore-filename-regex "$tests" src include >"$build/report.txt"
echo "lines and branches of each file: $build/report.txt"
head -n 1 "$build/report.txt"
tail -n 1 "$build/report.txt"
