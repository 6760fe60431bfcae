# What can be done here; `make` alone runs the demonstration.
#
# Needs Rust and make. `make test` tests more with clippy and rustfmt, valgrind, tshark, Python 3.10 or later with
# pip, Chromium, mdBook and cargo-deny, and says what it could not test; `make setup` installs most of them.
# `make picture` needs Python 3, `make peers` Python 3, a C++ compiler and ns-3, `make lock` uv.

FLOODWAY := $(or $(CARGO_TARGET_DIR),target)/release/floodway

.PHONY: demo build setup test try playground check-playground wheel python lock check-style check-docs check-skeletons \
	check-combinations check-mutants deny attack mutants guard guard-accept bench peers check-mpi notebooks \
	docs studies check-studies coverage site picture oracle check-oracle traces clean

# Compares a small data center with and without Congestion Isolation, in both readings of ECN, and says where
# the report is. DEMO has further options, as in `make demo DEMO="--replications 2"`.
demo: compiling build
	@echo "Simulating 18 runs: about a minute on two idle cores."
	$(FLOODWAY) run scenarios/ci/demo.toml --variant without-ci --variant ecn-step --variant ci --quick \
		--out results/demo --force $(DEMO)

# Whoever starts this for the first time waits for minutes, and is told why.
.PHONY: compiling
compiling:
	@[ -x $(FLOODWAY) ] || echo "Compiling floodway and its libraries, once: under three minutes on two idle cores."

build:
	@command -v cargo >/dev/null 2>&1 || { \
		echo "floodway is built with Rust, and there is no cargo here: install Rust as" >&2; \
		echo "https://rustup.rs says, open a new shell, and run make again" >&2; exit 1; }
	cargo build --release --locked --package floodway-cli

# Installs what `make test` tests more with.
setup:
	@tools/setup

# Compares an algorithm with the default of its family in a small network: make try ALGORITHM=switch.aqm.step
try:
	@tools/try "$(ALGORITHM)"

# Everything that has to hold before a change is published, as far as it can be tested here.
test:
	@tools/test

check-style:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings

check-docs: build
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked
	@mkdir -p target
	$(FLOODWAY) reference > target/reference.md
	@diff -u docs/reference.md target/reference.md || { \
		echo "docs/reference.md differs from what the code says: run make docs" >&2; exit 1; }

# Whether all valid combinations of flow control, congestion control, fabric and switch memory run, with consistent
# accounting and the same results on one thread and on two: minutes. Four in ten of them are in `make test`.
check-combinations:
	cargo test --locked --package floodway-scenario -- --ignored all_valid_combinations_run

# Whether what `floodway new algorithm` writes compiles and passes the tests of its family: minutes.
check-skeletons:
	cargo test --locked --package floodway-cli -- --ignored every_skeleton

# Whether licenses and sources of all libraries are as deny.toml says, and none is there in two versions; with
# a copy of the advisory database (`cargo deny fetch`), whether one is known to be broken.
deny:
	cargo deny --all-features check bans licenses sources

# The Python package as one file, in target/wheels. It shares what it is compiled from with the program.
wheel: build
	python3 -m venv target/python
	target/python/bin/pip install --quiet --require-hashes --requirement python/locked/build.txt
	rm -rf target/wheels
	target/python/bin/maturin build --quiet --release --locked --out target/wheels

# Whether the wheel works where there is nothing else, and then its tests, types, style and notebooks, in an
# environment with all that they need. Tests have the program make results to compare with; those of pages
# need a Chromium, and are skipped without one unless FLOODWAY_BROWSER=1 is set.
python: wheel
	python3 -m venv --clear target/python-alone
	target/python-alone/bin/pip install --quiet --no-index target/wheels/floodway-*.whl
	target/python-alone/bin/floodway --version
	cd target && python-alone/bin/python -c 'import doctest, floodway; \
		tried = doctest.testmod(floodway); \
		assert tried.attempted > 3 and not tried.failed, tried'
	target/python/bin/pip install --quiet --require-hashes --requirement python/locked/test.txt
	target/python/bin/pip install --quiet --no-deps --force-reinstall target/wheels/floodway-*.whl
	FLOODWAY="$(abspath $(FLOODWAY))" target/python/bin/python -m pytest -n 2 --dist worksteal --durations 15

# Whether every scenario has the same results over processes of MPI, in full: an hour or more. Part of it is in `make python`,
# whose environment this needs.
check-mpi: build
	@test -x target/python/bin/mpiexec || { echo "its tests need the Python package: run make python" >&2; exit 1; }
	FLOODWAY="$(abspath $(FLOODWAY))" FLOODWAY_MPI=all target/python/bin/python -m pytest python/tests/test_mpi.py

# The simulator in a page that works offline, target/playground/index.html: docs/playground.md.
playground:
	@tools/playground

# Whether the page computes what the program does, and works in a browser. It needs the environment of `make python`.
check-playground: build playground
	@test -x target/python/bin/python || { echo "its tests need the Python package: run make python" >&2; exit 1; }
	FLOODWAY="$(abspath $(FLOODWAY))" FLOODWAY_BROWSER=1 target/python/bin/python -m pytest python/tests/test_playground.py

# Linux in virtual time, from the distribution's source package, for docs/linux.md. It is kept in the user's cache.
LINUX := linux-source-6.12
oracle:
	@oracle/build $(LINUX)

# Whether its runs are repeatable, and one of them is the one that was stored.
check-oracle:
	@oracle/test "$$(oracle/build $(LINUX))"

# What floodway is compared with, anew: oracle/traces, and from it oracle/distances and the tables of docs/linux.md.
# Traces of Linux 7.2 and of Linux 6.12 changed by oracle/what-if are made by the commands that they begin with.
traces:
	oracle/matrix "$$(oracle/build $(LINUX))" target/oracle oracle/traces/linux-6.12.csv $(foreach set,one four ten mix ecn deck,--set $(set))
	BLESS=1 cargo test --locked --package floodway-scenario linux -- --include-ignored

# The versions and hashes of what builds and tests the Python package, anew (https://docs.astral.sh/uv).
UV := uv pip compile --quiet --generate-hashes --universal --python-version 3.10 \
	--no-annotate --custom-compile-command "make lock"

lock:
	$(UV) --group build --output-file python/locked/build.txt
	$(UV) --group release --output-file python/locked/release.txt
	$(UV) pyproject.toml --extra test --output-file python/locked/test.txt

# Whether every planted error still has its place in the sources.
check-mutants:
	python3 mutants/run.py --places

# Which errors in mechanisms the integration tests find: docs/mutants.md. `make mutants ONLY=dcqcn` for some.
mutants:
	python3 mutants/run.py --only "$(ONLY)"

# Whether a packet-hop takes as many instructions as it did: docs/performance.md.
guard: build
	python3 bench/guard.py --floodway $(FLOODWAY)

# Takes what it takes now for what it is to take.
guard-accept: build
	python3 bench/guard.py --floodway $(FLOODWAY) --accept

# Random valid scenarios and broken files, for so many minutes; goes on where it stopped
# (docs/attack.md).
MINUTES ?= 60
attack:
	cargo run --profile attack --locked --package floodway-attack -- run --minutes $(MINUTES)

# How fast it is on this machine.
bench: build
	$(FLOODWAY) bench

# The same work in ns-3 and in floodway, in turn (bench/README.md).
peers: build
	python3 bench/peers/run.py

# Programs, wheels, checksums and a bill of materials, in target/release-files; publishes nothing.
.PHONY: release
release:
	tools/release $(ONLY)

# Runs the notebooks of the documentation and stores what they print and show; after `make python`.
notebooks:
	target/python/bin/python docs/notebooks/run.py

# Writes what the code says about itself.
docs: build
	$(FLOODWAY) reference > docs/reference.md

# Runs every published study again and replaces the results in docs/studies: about eleven hours of computing, less
# what results/ has of this version already, and 30 GB of disk. `make studies ONLY="sfc ci"` for some.
studies: build
	tools/studies publish $(ONLY)

# Whether the published results are those of this version, by a sample of their runs: half a minute.
check-studies: build
	tools/studies verify

# How often 95 % intervals contain the true value, in synthetic experiments: docs/statistics/coverage.md.
coverage:
	@mkdir -p target
	cargo run --release --locked --package floodway-report --example coverage > target/coverage.md
	cp target/coverage.md docs/statistics/coverage.md

# The documentation as a site, target/site/index.html.
site:
	@command -v mdbook >/dev/null 2>&1 || { \
		echo "the site is made with mdBook: cargo install mdbook --locked" >&2; exit 1; }
	python3 docs/site.py target/site-source
	mdbook build target/site-source --dest-dir "$(CURDIR)/target/site"

# The pictures in the README, from the demonstration's report and from that of a small network.
picture: demo
	python3 docs/images/extract.py results/demo/report.html \
		"How does the mean completion time change" > docs/images/completion-times.svg
	$(FLOODWAY) new seen --out results/seen.toml --force
	$(FLOODWAY) run results/seen.toml --variant pfc --replications 1 --set record=200 \
		--set sample_interval=2us --out results/seen --force --quiet
	python3 docs/images/extract.py results/seen/report.html "pfc at" > docs/images/pauses.svg

clean:
	cargo clean
	rm -rf results/demo
