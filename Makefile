# Entry points; Meson and Ninja do the work, and every target here is one or two lines.
# To begin, two commands are enough: make run, make test.

export PYTHONDONTWRITEBYTECODE := 1
PYTHON  ?= python3
PREFIX  ?= /usr/local
JOBS    ?= $(shell nproc)
# Looked up when they are used: the target before may have installed them.
CLANG    = $(shell command -v clang)
LLD      = $(shell command -v ld.lld)
T       ?= json
TIME    ?= 60
NINJA    = ninja -j $(JOBS)
VERSION  = $(shell sed -n "s/^  version: '\(.*\)',$$/\1/p" meson.build)
SOURCES  = $(shell find src include tests bench docs tools -name '*.[ch]' -not -path '*/node_modules/*')
# The options of a released tarball, and those of a build with sanitizers.
RELEASE  = --buildtype=release --optimization=2 --prefix=$(PREFIX) -Dtests=false
CHECKED  = --buildtype=debugoptimized -Db_lundef=false
# Number of seeds for the simulated cluster in `make soak`.
SIM_SEEDS ?= 200000
# The formats for which tests/property has a grammar.
PROPERTIES = anthropic envelope gemini gpt-oss harmony openai-chat openai-responses structured-chat turns
FUZZERS  = $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))

.DEFAULT_GOAL := build
.PHONY: build page docs run tour test bench lint fmt asan tsan fuzz soak cover install deb test-deb image abi clean help deps-%

build: deps-build page build/build.ninja ## build the release program at build/parley
	@$(NINJA) -C build

run: build ## build, then serve with the demo model, and print the address
	@build/parley serve --model demo/echo

page: deps-build ## build the web page and the documents, which the program embeds
	@tools/page
	@tools/docs/build

docs: build ## make the reference from the program, and the documents as pages in build-docs/site
	@node tools/docs/reference.mjs build/parley
	@tools/docs/build

tour: build ## build, then show what the commands do
	@tools/tour build/parley

test: deps-test page build/build.ninja build-asan/build.ninja build-steps/build.ninja ## build, check everything, and count
	@$(PYTHON) tools/run_tests.py --jobs $(JOBS) build=e2e,layers \
	    build-asan=unit,fault,contract,conformance,fuzz,tools build-steps=growth

bench: deps-bench build-bench/build.ninja ## measure against the peers, in one run
	@$(NINJA) -C build-bench
	@$(PYTHON) bench/run.py --build build-bench

lint: deps-lint build/build.ninja ## clang-tidy, cppcheck, shellcheck, format and layers
	@$(NINJA) -C build
	@tools/lint build

fmt: deps-lint ## format every C file in place
	@clang-format -i $(SOURCES)

asan: deps-test build-asan/build.ninja ## only the tests with ASan and UBSan
	@$(PYTHON) tools/run_tests.py --jobs $(JOBS) build-asan=unit,fault,contract,conformance,fuzz

tsan: deps-test build-tsan/build.ninja ## only the tests with the thread sanitizer
	@$(PYTHON) tools/run_tests.py --jobs $(JOBS) build-tsan=unit,fault,contract,conformance,live

fuzz: deps-test build-fuzz/build.ninja ## fuzz one target: make fuzz T=json TIME=60
	@tools/fuzz build-fuzz $(T) $(TIME)

soak: deps-test build build-soak/build.ninja build-fuzz/build.ninja ## 200 crashes, 30 nodes killed, slow clients, every session proved, all edits of recorded requests, 200,000 runs of a simulated cluster, and five minutes of fuzzing per target
	@PARLEY=build/parley PARLEY_ROUNDS=200 node --test tests/e2e/durability.test.mjs tests/e2e/soak.test.mjs
	@PARLEY_PROVE_MOST=1000000 $(PYTHON) tools/run_tests.py --jobs $(JOBS) build=live
	@PARLEY_PROVE_MOST=1000000 PARLEY_TEST_STORE=postgres tests/contract/with_postgres \
		$(PYTHON) tools/run_tests.py --jobs $(JOBS) build=sessions
	@PARLEY=build/parley PARLEY_ROUNDS=30 tests/contract/with_postgres tests/contract/with_nats \
		node --test tests/e2e/cluster_kills.test.mjs
	@PARLEY=build/parley PARLEY_SHAPES_ALL=1 node --test tests/sdk/shape_streams.test.mjs
	@$(NINJA) -C build-soak tests/edit-property-test tests/fault-store-test tests/convert-property-test
	@PARLEY_FAULT_MOST=4000 build-soak/tests/fault-store-test
	@printf '%s\n' $(PROPERTIES) | xargs -P $(JOBS) -I{} build-soak/tests/convert-property-test {} 30000
	@printf '%s\n' anthropic gemini gpt-oss openai-chat openai-responses | PARLEY_EDIT_ALL=1 xargs -P $(JOBS) -I{} \
		$(PYTHON) tests/property/edit_recorded.py build-soak/tests/edit-property-test {}
	@$(NINJA) -C build-soak tests/sim/sim-test
	@build-soak/tests/sim/sim-test 0 $(SIM_SEEDS)
	@$(NINJA) -C build-fuzz $(FUZZERS:%=tests/fuzz/fuzz-%)
	@printf '%s\n' $(FUZZERS) | xargs -P $(JOBS) -I{} tools/fuzz build-fuzz {} 300

cover: deps-test build-cover/build.ninja ## lines covered by the tests, room by room
	-@$(PYTHON) tools/run_tests.py --jobs $(JOBS) build-cover=unit,fault,contract,conformance,fuzz,e2e
	@$(PYTHON) tools/cover.py build-cover

install: build ## install under PREFIX (honours DESTDIR)
	@meson configure build --prefix=$(PREFIX)
	@meson install -C build
	@[ -n "$(DESTDIR)" ] || [ "$$(id -u)" != 0 ] || ldconfig

deb: deps-deb ## build the Debian packages in build-deb/packages
	@tools/deb build-deb/packages

test-deb: deps-deb ## install, start, upgrade and purge the packages in a fresh Debian 12 (root, minutes)
	@tools/test-deb

image: ## build the OCI image (deploy/Containerfile), where podman, buildah or docker runs
	@tools/image

abi: deps-deb build-abi/build.ninja ## compare the binary interface of libparley with src/lib/parley.abi
	@$(NINJA) -C build-abi src/lib/libparley.so.$(VERSION)
	@tools/abi build-abi

clean: ## remove every build directory
	@rm -rf build build-abi build-asan build-bench build-cover build-deb build-docs build-fuzz build-steps build-tsan

help: ## list the targets
	@awk -F': .*## |: ## ' '/^[a-z-]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' Makefile

deps-%:
	@tools/install-deps $*

build/build.ninja:
	@CC=$${CC:-gcc} meson setup build $(RELEASE)

# Uses clang if it is installed: this build then also compiles everything with clang -Werror. lld links the 300 tests
# in half of the time.
build-asan/build.ninja:
	@CC=$(or $(CLANG),gcc) $(if $(LLD),CC_LD=lld) meson setup build-asan $(CHECKED) -Db_sanitize=address,undefined

build-tsan/build.ninja:
	@CC=$(or $(CLANG),gcc) meson setup build-tsan $(CHECKED) -Db_sanitize=thread

build-fuzz/build.ninja:
	@CC=clang meson setup build-fuzz $(CHECKED) -Db_sanitize=address,undefined -Dfuzz=true

# For millions of edits: without the sanitizers. `make test` runs a part of them with sanitizers.
build-soak/build.ninja:
	@CC=$${CC:-gcc} meson setup build-soak --buildtype=release

# Counts its steps; tests/growth reads the counts.
build-steps/build.ninja:
	@CC=$${CC:-gcc} meson setup build-steps --buildtype=debugoptimized -Ddebug=false -Db_lundef=false \
	    -Dtests=false -Dsteps=true

build-cover/build.ninja:
	@CC=gcc meson setup build-cover --buildtype=debug -Db_coverage=true

# With debug information: abidw reads the types from it.
build-abi/build.ninja:
	@CC=$${CC:-gcc} meson setup build-abi --buildtype=debugoptimized -Dtests=false

build-bench/build.ninja:
	@CC=$${CC:-gcc} meson setup build-bench $(RELEASE) -Dbench_peers=true
