#!/usr/bin/env bash
# The report on the benchmark documents; `make report` runs it. Installs what is missing, builds,
# and writes build/report/index.html: this engine beside all peers that are installed, rows that are
# lost first. docs/benchmarks.md says what is in it. Arguments go to bench/report/report.py.
#
# Settings by environment: HAWTHORN_REPORT_MINUTES (20), the time that all runs together may take;
# HAWTHORN_REPORT_ENGINES, only these, separated by commas; HAWTHORN_REPORT_HISTORY, the file of
# earlier reports (build/report/history.jsonl); HAWTHORN_REPORT_BUILD, a build directory to use as
# it is.
set -euo pipefail
cd "$(dirname "$0")/.."

for argument in "$@"; do
  case $argument in -h | --help) exec python3 -B bench/report/report.py --help ;; esac
done

build=${HAWTHORN_REPORT_BUILD:-}
if [ -z "$build" ]; then
  build=build/release
  scripts/install_deps.sh core bench
  cmake --preset release
  cmake --build --preset release --target hawthorn_installed hawthorn-bench
fi

# The first interpreter that has matplotlib: another Python may come before Debian's in the path.
# Without it there is a page all the same, but no pictures for the README.
chosen=python3
for python in python3 /usr/bin/python3; do
  if "$python" -c 'import matplotlib' 2>/dev/null; then
    chosen=$python
    break
  fi
done

exec "$chosen" -B bench/report/report.py --bench "$build/bin/hawthorn-bench" \
  --minutes "${HAWTHORN_REPORT_MINUTES:-20}" --engines "${HAWTHORN_REPORT_ENGINES:-}" \
  --history "${HAWTHORN_REPORT_HISTORY:-}" "$@"
