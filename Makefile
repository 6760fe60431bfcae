# What can be done here; `make` alone runs the demonstration.
#
# Needs Rust (with clippy and rustfmt for `make test`) and make; `make test` also needs valgrind, Python
# 3.10 or later with pip, and for some tests Chromium (they are skipped without), `make picture` Python 3,
# `make wheel` and `make python` Python 3.10 or later with pip, `make site` Python 3 and mdBook, and `make
# peers` Python 3, a C++ compiler and ns-3.

FLOODWAY := target/release/floodway

.PHONY: demo build test wheel python check-style check-docs mutants guard guard-accept bench peers docs coverage site picture clean

# Compares a small data centre with and without Congestion Isolation, and says where the report is.
demo: build
	$(FLOODWAY) run scenarios/ci/lossless.toml --quick --out results/demo --force

build:
	@command -v cargo >/dev/null 2>&1 || { \
		echo "floodway is built with Rust, and there is no cargo here: install Rust as" >&2; \
		echo "https://rustup.rs says, open a new shell, and run make again" >&2; exit 1; }
	cargo build --release --locked --package floodway-cli

# Everything that has to hold before a change is published.
test: check-style build
	cargo test --workspace --locked
	$(MAKE) check-docs
	$(MAKE) guard
	$(MAKE) python
	$(FLOODWAY) bench --quick
	$(MAKE) demo

check-style: build
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings

check-docs: build
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked
	$(FLOODWAY) reference > target/reference.md
	@diff -u docs/reference.md target/reference.md || { \
		echo "docs/reference.md differs from what the code says: run make docs" >&2; exit 1; }

# The Python package as one file, in target/wheels. It shares what it is compiled from with the program.
wheel: build
	python3 -m venv target/python
	target/python/bin/pip install --quiet 'maturin>=1.9.4,<2'
	rm -rf target/wheels
	target/python/bin/maturin build --quiet --release --locked --out target/wheels

# Whether the wheel works where there is nothing else, and then its tests, types, style and notebooks, in an
# environment with all that they need. Tests have the program make results to compare with; those of pages
# need a Chromium, and are skipped without one unless FLOODWAY_BROWSER=1 is set.
python: wheel
	python3 -m venv --clear target/python-alone
	target/python-alone/bin/pip install --quiet --no-index target/wheels/floodway-*.whl
	cd target && python-alone/bin/python -c 'import doctest, floodway; \
		tried = doctest.testmod(floodway); \
		assert tried.attempted > 3 and not tried.failed, tried'
	target/python/bin/pip install --quiet "$$(echo target/wheels/floodway-*.whl)[test]"
	target/python/bin/pip install --quiet --no-deps --force-reinstall target/wheels/floodway-*.whl
	FLOODWAY="$(CURDIR)/$(FLOODWAY)" target/python/bin/python -m pytest

# Which errors in mechanisms the integration tests find: docs/mutants.md. `make mutants ONLY=dcqcn` for some.
mutants:
	python3 mutants/run.py --only "$(ONLY)"

# Whether a packet-hop takes as many instructions as it did: docs/performance.md.
guard: build
	python3 bench/guard.py --floodway $(FLOODWAY)

# Takes what it takes now for what it is to take.
guard-accept: build
	python3 bench/guard.py --floodway $(FLOODWAY) --accept

# How fast it is on this machine.
bench: build
	$(FLOODWAY) bench

# The same work in ns-3 and in floodway, in turn (bench/README.md).
peers: build
	python3 bench/peers/run.py

# Writes what the code says about itself.
docs: build
	$(FLOODWAY) reference > docs/reference.md

# How often 95 % intervals contain the true value, in synthetic experiments: docs/statistics/coverage.md.
coverage:
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
