#!/usr/bin/env bash
# The main job; `make demo` runs it. Installs what is missing, builds, then in under two minutes:
#
#   1. a bank of 1,000,000 accounts with a concurrent reader, on Hawthorn and on the peers that are
#      installed, every answer checked; a table here and a chart in demo-data/bank.png
#   2. a bank on Hawthorn that is killed with SIGKILL in the middle, three times; each time it is
#      opened again and compared with what was acknowledged, to the last cent
#
# Both databases stay in demo-data/. Settings by environment: HAWTHORN_DEMO_ACCOUNTS,
# HAWTHORN_DEMO_TRANSACTIONS, HAWTHORN_DEMO_BATCH, HAWTHORN_DEMO_MEMORY, HAWTHORN_DEMO_ENGINES,
# HAWTHORN_DEMO_BUILD (a build directory to use as it is).
set -euo pipefail
cd "$(dirname "$0")/.."

build=${HAWTHORN_DEMO_BUILD:-}
if [ -z "$build" ]; then
  build=build/release
  scripts/install_deps.sh core bench
  cmake --preset release
  cmake --build --preset release --target hawthorn_installed hawthorn-bench
fi
bench=$build/bin/hawthorn-bench
started=$SECONDS

accounts=${HAWTHORN_DEMO_ACCOUNTS:-1000000}
transactions=${HAWTHORN_DEMO_TRANSACTIONS:-200000}
batch=${HAWTHORN_DEMO_BATCH:-100}
memory=${HAWTHORN_DEMO_MEMORY:-1}
data=demo-data
mkdir -p "$data"

# Those of the wanted engines that this build has, separated by commas.
engines=${HAWTHORN_DEMO_ENGINES:-}
if [ -z "$engines" ]; then
  built=$("$bench" engines | grep -o '^[^ ]*')
  for engine in hawthorn rocksdb lmdb lmdb-writemap mdbx sqlite tidesdb; do
    if grep -qx -- "$engine" <<<"$built"; then
      engines=${engines:+$engines,}$engine
    fi
  done
fi
# What was built with assertions is compared with nothing: the first peer that was not.
unfair=$("$bench" engines | awk '/^[^ ]/ { name = $1 } /^ .*assertions ON/ { print name }')
baseline=
for engine in ${engines//,/ }; do
  if [ "$engine" != hawthorn ] && ! grep -qx -- "$engine" <<<"$unfair"; then
    baseline=$engine
    break
  fi
done

echo
echo "== A bank of $accounts accounts, $batch transfers per commit, with and without a reader"
"$bench" bank --engines "$engines" ${baseline:+--baseline "$baseline"} --num-accounts "$accounts" \
  --num-transactions "$transactions" --batch-size "$batch" --memory "$memory" --pretouch "$memory" \
  --db-path "$data/bank" --keep --json "$data/bank.json" --csv "$data/bank.csv"
# Ours stays for a look at it.
for engine in ${engines//,/ }; do
  [ "$engine" = hawthorn ] || rm -rf "$data/bank/${engine:?}"
done

echo
echo "== A bank that is killed with SIGKILL and opened again"
"$bench" bank --kill --kill-rounds 3 --engines hawthorn --num-accounts "$accounts" \
  --batch-size "$batch" --memory "$memory" --pretouch 0 \
  --db-path "$data/killed" --keep --json "$data/killed.json"

echo
# The first interpreter that has matplotlib: another Python may come before Debian's in the path.
for python in python3 /usr/bin/python3; do
  if "$python" -c 'import matplotlib' 2>/dev/null; then
    title="Bank, $accounts accounts, $batch transfers per commit, memory $memory GB"
    "$python" scripts/plot_demo.py "$data/bank.json" "$data/bank.png" \
      "$title, no sync (survives kill -9)"
    break
  fi
done
[ -f "$data/bank.png" ] || echo "no chart: python3-matplotlib is missing"

echo "The demo took $((SECONDS - started)) s. Look at the databases with:"
echo "  $build/bin/hawthorn stats $data/bank/hawthorn"
echo "  $build/bin/hawthorn stats $data/killed/hawthorn"
