#!/usr/bin/env bash
# Builds the Java binding against an installed library, and runs its tests, its example and a short
# run of its benchmark: test.sh PREFIX. Everything that is made lies in build/bindings/java.
#
# Needs a JDK of 17 or later and a C compiler; JUnit comes by Maven, or from the jar that
# HAWTHORN_JUNIT names. HAWTHORN_BENCH_DIR: a directory for the benchmark's database.

set -euo pipefail

if [[ $# -ne 1 ]]; then
  echo "usage: test.sh PREFIX" >&2
  exit 2
fi
prefix=$(cd "$1" && pwd)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../../scripts/download.sh"
build=$(cd "$here/../.." && pwd)/build/bindings/java
junit_version=1.10.2
log=$build/test.log

for tool in javac java jar javadoc cc; do
  if ! command -v "$tool" >/dev/null; then
    echo "bindings java: $tool is missing (on Debian: apt-get install openjdk-17-jdk-headless gcc)"
    exit 3
  fi
done

mkdir -p "$build"
failures=0

passed() { echo "passed bindings java: $*"; }
failed() {
  echo "FAILED bindings java: $*"
  failures=$((failures + 1))
}

junit=${HAWTHORN_JUNIT:-$build/lib/junit-platform-console-standalone-$junit_version.jar}
if [[ ! -f $junit ]]; then
  if ! command -v mvn >/dev/null; then
    echo "bindings java: neither mvn nor HAWTHORN_JUNIT for JUnit"
    exit 3
  fi
  if ! download "Maven Central" mvn -q -B dependency:copy -DoutputDirectory="$build/lib" \
    -Dartifact="org.junit.platform:junit-platform-console-standalone:$junit_version" \
    >"$build/mvn.log" 2>&1; then
    cat "$build/mvn.log"
    failed "JUnit, which mvn could not get; HAWTHORN_JUNIT names a jar"
    exit 1
  fi
fi

"$here/build.sh" "$prefix" "$build" >"$log" 2>&1 || {
  cat "$log"
  failed "build"
  exit 1
}
passed "build, $(find "$build/classes" -name '*.class' | wc -l) classes"

sources=()
while IFS= read -r file; do sources+=("$file"); done < <(find "$here/src" -name '*.java' | sort)
if javadoc -quiet -Xdoclint:all -Xwerror -protected -d "$build/javadoc" "${sources[@]}" \
  >"$log" 2>&1; then
  passed "javadoc -Xdoclint:all -Xwerror, ${#sources[@]} files"
else
  cat "$log"
  failed "javadoc"
fi

others=()
while IFS= read -r file; do others+=("$file"); done < <(
  find "$here/test" "$here/examples" "$here/bench" -name '*.java' | sort
)
rm -rf "$build/test-classes" "$build/scratch"
mkdir -p "$build/scratch"
if ! javac --release 17 -Xlint:all -Werror -d "$build/test-classes" \
  -cp "$build/hawthorn.jar:$junit" "${others[@]}" >"$log" 2>&1; then
  cat "$log"
  failed "compiling tests"
  exit 1
fi

run=(java -Xcheck:jni -Djava.io.tmpdir="$build/scratch" -Djava.library.path="$build/native")
if "${run[@]}" -cp "$build/hawthorn.jar:$build/test-classes:$junit" \
  -Dhawthorn.scratch="$build/scratch" org.junit.platform.console.ConsoleLauncher execute \
  --select-package=dev.hawthorn --fail-if-no-tests --disable-banner --disable-ansi-colors \
  --details=tree >"$log" 2>&1 && ! grep -E '^(FATAL ERROR|WARNING) in native' "$log"; then
  passed "tests, $(sed -n 's/^\[ *\([0-9]*\) tests successful.*/\1/p' "$log")"
else
  cat "$log"
  failed "tests"
fi

# Out of the jar alone, as a program gets it.
queue=$build/scratch/queue
if (cd "$build/scratch" && java -cp "$build/hawthorn.jar:$build/test-classes" JobQueue "$queue") \
  >"$log" 2>&1; then
  passed "example JobQueue, $(tail -1 "$log")"
else
  cat "$log"
  failed "example JobQueue"
fi

bench=(--entries 100000)
[[ -n ${HAWTHORN_BENCH_DIR:-} ]] && bench=()
if java -Djava.library.path="$build/native" -cp "$build/hawthorn.jar:$build/test-classes" Bench \
  "${HAWTHORN_BENCH_DIR:-$build/scratch/bench}" ${bench[@]+"${bench[@]}"} >"$log" 2>&1; then
  passed "bench, $(wc -l <"$log") rates"
  cat "$log"
else
  cat "$log"
  failed "bench"
fi

rm -rf "$build/scratch"
[[ $failures -eq 0 ]]
