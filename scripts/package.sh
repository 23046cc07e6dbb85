#!/usr/bin/env bash
# The packages of a release, in build/packages: a .deb and a tarball of the release build. The same
# commit on the same system gives the same bytes: times are those of the commit.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install_deps.sh core package
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
cmake --preset release
cmake --build --preset release --target hawthorn_installed
rm -rf build/packages
cpack --config build/release/CPackConfig.cmake -B build/packages
rm -rf build/packages/_CPack_Packages
(cd build/packages && sha256sum -- * >SHA256SUMS && cat SHA256SUMS)
