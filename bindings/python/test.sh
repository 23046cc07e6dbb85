#!/usr/bin/env bash
# Builds the Python binding against an installed library and runs all that tests it:
#   bindings/python/test.sh PREFIX
# Everything is made in build/bindings/python of the checkout. PYTHON is the interpreter to use
# (default: python3). Exit code 3: there is no Python 3.11 or later with pip and a compiler.
set -euo pipefail

if [[ $# -ne 1 || ! -e $1/include/hawthorn/c.h ]]; then
  echo "usage: $0 PREFIX, where the library is installed" >&2
  exit 2
fi
prefix=$(realpath "$1")
source_dir=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
. "$source_dir/../../scripts/download.sh"
work=$(realpath "$source_dir/../..")/build/bindings/python
python=${PYTHON:-python3}

missing() {
  echo "bindings python: $1" >&2
  exit 3
}
"$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
  missing "no Python 3.11 or later with venv and pip"
"$python" -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' ||
  missing "no headers of Python (python3-dev)"
command -v "${CC:-cc}" >/dev/null || missing "no C compiler"

# part WHAT LOG COMMAND...: runs it, and says how it went.
failed=0
part() {
  local what=$1 log=$work/$2.log
  shift 2
  if "$@" >"$log" 2>&1; then
    local count
    count=$(grep -oE '^Ran [0-9]+ tests?|skipped=[0-9]+' "$log" | tr '\n' ' ' || true)
    echo "passed bindings python: $what${count:+, ${count% }}"
  else
    echo "FAILED bindings python: $what"
    tail -n 60 "$log"
    failed=1
  fi
}

export PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1 HAWTHORN_PREFIX=$prefix
mkdir -p "$work"
scratch=$(mktemp -d "$work/scratch.XXXXXX")
chmod 711 "$scratch"  # some tests go on as another user
trap 'rm -rf "$scratch"' EXIT
export TMPDIR=$scratch

# shellcheck disable=SC2317
build() {
  rm -rf "$work/source"
  cp -r "$source_dir" "$work/source"
  [[ -x $work/venv/bin/pip ]] || "$python" -m venv "$work/venv"
  pip_install "$work/venv" setuptools wheel
  "$work/venv/bin/pip" install --force-reinstall --no-deps --no-index --no-build-isolation \
    "$work/source"
}
part "build" build build
[[ $failed -eq 0 ]] || exit 1

# Its tests need these.
part "numpy and mypy of PyPI" extras pip_install "$work/venv" mypy numpy

run=("$work/venv/bin/python" -X faulthandler -W error)
# shellcheck disable=SC2317
tests() { (cd "$source_dir/tests" && "${run[@]}" -m unittest discover -v); }
part "tests" tests tests
part "example job_queue" example "${run[@]}" "$source_dir/examples/job_queue.py" "$scratch/jobs"
part "bench, 50,000 entries" bench "${run[@]}" "$source_dir/bench/bench.py" "$scratch/bench" 50000
exit "$failed"
