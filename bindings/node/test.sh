#!/usr/bin/env bash
# Builds the Node.js binding against an installed library and runs all of its tests, its example and
# a short run of its benchmark: test.sh PREFIX. Everything is written below build/bindings/node of
# the checkout. Exit codes: 0 passed, 1 failed, 2 wrong use, 3 a tool is missing.
set -euo pipefail

if [ $# -ne 1 ] || [ ! -d "$1/include/hawthorn" ]; then
  echo "usage: test.sh PREFIX (with PREFIX/include and PREFIX/lib)" >&2
  exit 2
fi
prefix=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../scripts/download.sh"
out=$(cd "$here/../.." && pwd)/build/bindings/node
for tool in node npm "${CXX:-c++}"; do
  if ! command -v "$tool" >/dev/null; then
    echo "bindings node: $tool is missing"
    exit 3
  fi
done
if [ "$(node -p 'Number(process.versions.node.split(".")[0]) >= 18')" != true ]; then
  echo "bindings node: Node.js 18 or newer is missing"
  exit 3
fi

failed=0
report() { # STATUS WHAT
  if [ "$1" -eq 0 ]; then
    echo "passed bindings node: $2"
  else
    echo "FAILED bindings node: $2"
    failed=1
  fi
}

# The package as npm would install it, from a copy: npm writes beside what it installs.
package=$out/package
work=$out/work
mkdir -p "$package" "$out/ts" "$out/addon"
rm -rf "$work" && mkdir -p "$work/tmp"
for part in lib src types test example bench; do
  rm -rf "${package:?}/$part"
  cp -r "$here/$part" "$package/"
done
cp "$here/package.json" "$here/build.js" "$here/index.d.ts" "$here/README.md" "$package/"
export HAWTHORN_PREFIX=$prefix HAWTHORN_NODE_OUT=$out/addon
export HAWTHORN_NODE_ADDON=$out/addon/hawthorn.node HAWTHORN_NODE_TMP=$work/tmp
npm_config_cache=$(cache_folder)/npm
export npm_config_cache npm_config_update_notifier=false
status=0
(cd "$package" && npm run --silent install) >"$work/build.log" 2>&1 || status=$?
report $status "addon built by npm's install script"
if [ $status -ne 0 ]; then
  cat "$work/build.log"
  exit 1
fi

status=0
(cd "$package" && node --expose-gc --test --test-reporter=tap test/*.test.js) \
  >"$work/tests.log" 2>&1 || status=$?
count=$(sed -n 's/^# pass //p' "$work/tests.log")
skipped=$(sed -n 's/^# skipped //p' "$work/tests.log")
[ $status -eq 0 ] || grep -B2 -A30 '^ *not ok' "$work/tests.log" || tail -n 50 "$work/tests.log"
report $status "unit tests, ${count:-0} (${skipped:-0} skipped)"

status=0
node "$package/example/job_queue.js" "$work/example" >"$work/example.log" 2>&1 || status=$?
[ $status -eq 0 ] || cat "$work/example.log"
report $status "example job_queue, 1"

status=0
node "$package/bench/bench.js" "$work/bench" 50000 >"$work/bench.log" 2>&1 || status=$?
[ $status -eq 0 ] || cat "$work/bench.log"
report $status "bench of 50000 entries, $(wc -l <"$work/bench.log") rates"

# The declarations, by the compiler that npm installs.
if [ ! -x "$out/ts/node_modules/.bin/tsc" ]; then
  echo '{"private":true}' >"$out/ts/package.json"
  (cd "$out/ts" && download "npm's registry" npm install --no-audit --no-fund --no-package-lock \
    --fetch-retries=0 --prefer-offline typescript@5 @types/node@18) \
    >"$work/tsc-install.log" 2>&1 || true
fi
if [ -x "$out/ts/node_modules/.bin/tsc" ]; then
  status=0
  cat >"$out/ts/tsconfig.json" <<JSON
{
  "compilerOptions": {
    "strict": true, "noEmit": true, "target": "es2022", "module": "node16",
    "moduleResolution": "node16", "types": ["node"], "baseUrl": ".",
    "typeRoots": ["$out/ts/node_modules/@types"],
    "paths": { "hawthorn": ["$package/index.d.ts"] }
  },
  "files": ["$package/test/types.ts"]
}
JSON
  "$out/ts/node_modules/.bin/tsc" -p "$out/ts/tsconfig.json" >"$work/tsc.log" 2>&1 || status=$?
  [ $status -eq 0 ] || cat "$work/tsc.log"
  report $status "type declarations, 1 program"
else
  cat "$work/tsc-install.log"
  report 1 "type declarations, for which npm cannot install typescript"
fi
rm -rf "$work/tmp" "$work/bench" "$work/example"
exit $failed
