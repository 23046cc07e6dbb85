#!/usr/bin/env bash
# The check before a commit; `make check` runs it: layering and style, then the unit tests (those
# that stand next to the code) and a short run against the model, in the tree of the preset asan,
# which `make test` uses, too. `make test` has the whole-engine tests and the other presets.
#
# Every part is run, whatever failed before it; a build that fails ends it. The last line is
# `check: passed` or `check: FAILED` with the names of the parts, and the seconds.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

jobs=${HAWTHORN_TEST_JOBS:-$(nproc)}
tree=build/asan
failed=()
# A folder of unit tests is one of the layers, of the tools, or of the simulated machine.
folders=(tools testing)
for list in src/*/CMakeLists.txt; do
  folders+=("${list%/CMakeLists.txt}")
done

part() {
  local name=$1 started=$SECONDS
  shift
  "$@" || failed+=("$name")
  echo "== $name: $((SECONDS - started)) s"
}

scripts/install_deps.sh core test || exit 1
for name in layering style breaks; do
  part "$name" python3 -B "tests/tidy/${name}_test.py"
done

build() {
  cmake --preset asan &&
    cmake --build --preset asan -j "$jobs" --target "${folders[@]/%//all}" model_test
}
part build build
if [ ${#failed[@]} -eq 0 ] || [ "${failed[-1]}" != build ]; then
  for folder in "${folders[@]}"; do
    part "unit tests of $folder" ctest --test-dir "$tree/$folder" -j "$jobs" -LE '^long$' \
      --no-tests=error --output-on-failure
  done
  part model "$tree/tests/model/model_test" --gtest_filter=Model.few_keys
fi

if [ ${#failed[@]} -gt 0 ]; then
  printf -v names '%s, ' "${failed[@]}"
  echo "check: FAILED: ${names%, } ($SECONDS s)"
  exit 1
fi
echo "check: passed ($SECONDS s)"
