#!/usr/bin/env bash
# Builds the Java binding: build.sh PREFIX [OUTPUT]. PREFIX has include/hawthorn and
# lib/libhawthorn.so.0; OUTPUT gets hawthorn.jar, which has the native libraries in it, and native/.

set -euo pipefail

fail() {
  echo "hawthorn: $*" >&2
  exit 1
}
if [[ $# -lt 1 || $# -gt 2 || -z $1 ]]; then
  echo "usage: build.sh PREFIX [OUTPUT], such as build.sh /usr/local" >&2
  exit 2
fi
[[ -e $1/include/hawthorn/c.h && -e $1/lib/libhawthorn.so.0 ]] ||
  fail "no library is installed in $1: include/hawthorn/c.h and lib/libhawthorn.so.0 are missing"
for tool in javac jar java cc; do
  command -v "$tool" >/dev/null ||
    fail "$tool is missing (on Debian: apt install default-jdk-headless gcc)"
done
prefix=$(cd "$1" && pwd)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=${2:-$here/../../build/bindings/java}
mkdir -p "$build"
build=$(cd "$build" && pwd)
java_home=${JAVA_HOME:-$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")}

rm -rf "$build/classes" "$build/jar"
mkdir -p "$build/native" "$build/classes"
sources=()
while IFS= read -r file; do sources+=("$file"); done < <(find "$here/src" -name '*.java' | sort)
javac --release 17 -Xlint:all -Werror -d "$build/classes" "${sources[@]}"

lib=$prefix/lib
cc -std=c11 -O2 -g -Wall -Wextra -Werror -fPIC -shared -fvisibility=hidden \
  -I"$prefix/include" -I"$java_home/include" -I"$java_home/include/linux" \
  "$here"/native/*.c -o "$build/native/libhawthorn_java.so" \
  -L"$lib" -lhawthorn -lpthread -Wl,-z,defs -Wl,-rpath,"\$ORIGIN" -Wl,--enable-new-dtags
cp -L "$lib/libhawthorn.so.0" "$build/native/"

# What the JVM calls the machine is where the loader looks for the libraries.
machine=$(java -XshowSettings:properties -version 2>&1 | sed -n 's/^ *os.arch = //p')
mkdir -p "$build/jar/native/linux-$machine"
cp "$build"/native/lib*.so* "$build/jar/native/linux-$machine/"
jar --create --file "$build/hawthorn.jar" -C "$build/classes" . -C "$build/jar" .
