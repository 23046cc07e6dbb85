# The two commands of a fresh machine are `make demo` and `make test`; each installs what it lacks.

.PHONY: all demo report test test-compat test-aarch64 reliability coverage fuzz build peers packages docs format help
all: build

help:
	@echo "make demo         the main job: a bank, benchmarked, killed, reopened and validated"
	@echo "make report       the benchmark documents' workloads on all engines: build/report/index.html,"
	@echo "                  in HAWTHORN_REPORT_MINUTES (20 by default)"
	@echo "make test         every check and test, in four builds; STAGES=\"style tsan\": only these"
	@echo "make test-compat  tests of the shims for other engines' APIs, and of the bindings"
	@echo "make test-aarch64 builds for aarch64, and tests under an emulator"
	@echo "make reliability  2,000 simulated crashes, 500 kills, 1,000 power cuts, a minute of each fuzz"
	@echo "                  target, and the long tests, of the shims too"
	@echo "make coverage     which lines and branches the tests reach"
	@echo "make fuzz         the fuzz targets, HAWTHORN_FUZZ_SECONDS each (600 by default)"
	@echo "make build        the release build, in build/release"
	@echo "make peers        release builds of the engines that benchmarks compare with, in build/peers"
	@echo "make packages     a .deb and a tarball of the release build, in build/packages"
	@echo "make docs         the documentation site, in build/site"
	@echo "make format       clang-format over the whole tree"

demo:
	scripts/demo.sh

report:
	scripts/report.sh

test:
	scripts/test.sh $(STAGES)

test-compat:
	scripts/test.sh compat compat-asan bindings

test-aarch64:
	scripts/test.sh aarch64

reliability:
	scripts/test.sh reliability long compat-long

coverage:
	scripts/coverage.sh

fuzz:
	scripts/install_deps.sh
	cmake --preset fuzz
	cmake --build --preset fuzz
	HAWTHORN_FUZZ_SECONDS=$${HAWTHORN_FUZZ_SECONDS:-600} scripts/fuzz.sh

build:
	scripts/install_deps.sh
	cmake --preset release
	cmake --build --preset release

peers:
	scripts/peers.sh

packages:
	scripts/package.sh

docs:
	scripts/docs.sh

format:
	git ls-files '*.h' '*.cc' | xargs clang-format-19 -i
