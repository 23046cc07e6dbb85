# Each command installs the packages that it needs and the machine lacks (scripts/install_deps.sh).

.PHONY: all build install peers check demo report test test-compat test-aarch64 reliability chance coverage fuzz packages docs format help
all: build

help:
	@echo "make build        the library and the command, in build/release"
	@echo "make install      builds and installs them with headers, manual page and completions:"
	@echo "                  PREFIX=/usr/local, DESTDIR="
	@echo "make check        style, layering, unit tests and a short model run, in minutes"
	@echo "make demo         the main job: a bank, benchmarked, killed, reopened and validated"
	@echo "make report       the benchmark documents' workloads on all engines: build/report/index.html,"
	@echo "                  in HAWTHORN_REPORT_MINUTES (20 by default)"
	@echo "make test         the gate: every check and test that judges a change; STAGES=\"style tsan\":"
	@echo "                  only these"
	@echo "make test-compat  tests of the shims for other engines' APIs, and of the bindings"
	@echo "make test-aarch64 builds for aarch64, and tests under an emulator"
	@echo "make reliability  2,000 simulated crashes, 500 kills, 1,000 power cuts, a minute of each fuzz"
	@echo "                  target, and the long tests, of the shims too"
	@echo "make chance       tests that fail by chance: repeated, under load, with random delays; hours"
	@echo "make coverage     which lines and branches the tests reach"
	@echo "make fuzz         the fuzz targets, HAWTHORN_FUZZ_SECONDS each (600 by default)"
	@echo "make peers        release builds of the engines that benchmarks compare with, in build/peers"
	@echo "make packages     a .deb and a tarball of the release build, in build/packages"
	@echo "make docs         the documentation site, in build/site"
	@echo "make format       clang-format over the whole tree"

demo:
	scripts/demo.sh

report:
	scripts/report.sh

test:
	scripts/install_deps.sh core test bench docs
	scripts/test.py $(STAGES)

test-compat:
	scripts/test.py compat compat-asan bindings

test-aarch64:
	scripts/test.py aarch64

reliability:
	scripts/test.py reliability long

chance:
	scripts/install_deps.sh core test bench
	scripts/chance.sh repeat 200
	scripts/chance.sh load 3
	scripts/chance.sh delays

coverage:
	scripts/coverage.sh

fuzz:
	scripts/install_deps.sh core test
	cmake --preset fuzz
	cmake --build --preset fuzz
	HAWTHORN_FUZZ_SECONDS=$${HAWTHORN_FUZZ_SECONDS:-600} scripts/fuzz.sh

build:
	scripts/install_deps.sh core
	cmake --preset release
	cmake --build --preset release --target hawthorn_installed

# A tree that is there is brought up to date and not configured again: under sudo, nothing in it
# becomes root's.
PREFIX ?= /usr/local
install:
	test -e build/release/build.ninja || $(MAKE) build
	cmake --build --preset release --target hawthorn_installed
	cmake --install build/release --component hawthorn --prefix "$(PREFIX)"

check:
	scripts/test.py check

peers:
	scripts/peers.sh

packages:
	scripts/package.sh

docs:
	scripts/docs.sh

format:
	git ls-files '*.h' '*.cc' | xargs clang-format-19 -i
