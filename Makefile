# What can be done here; `make` alone runs the demonstration.
#
# Needs Rust (with clippy and rustfmt for `make test`) and make; `make test` also needs Python 3 and
# valgrind, `make picture` Python 3, `make python` Python 3.10 or later with pip, `make site`
# Python 3 and mdBook, and `make peers` Python 3, a C++ compiler and ns-3.

FLOODWAY := target/release/floodway

.PHONY: demo build test python check-style check-docs guard guard-accept bench peers docs site picture clean

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

# The Python package in an environment of its own, with all that its tests need. Tests of results
# directories have the program make some; those of pages need a Chromium, and are skipped without one
# unless FLOODWAY_BROWSER=1 is set.
python: build
	python3 -m venv target/python
	target/python/bin/pip install --quiet '.[test]'
	FLOODWAY="$(CURDIR)/$(FLOODWAY)" target/python/bin/python -m pytest

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

# The documentation as a site, target/site/index.html.
site:
	@command -v mdbook >/dev/null 2>&1 || { \
		echo "the site is made with mdBook: cargo install mdbook --locked" >&2; exit 1; }
	python3 docs/site.py target/site-source
	mdbook build target/site-source --dest-dir "$(CURDIR)/target/site"

# The picture in the README, from the demonstration's report.
picture: demo
	python3 docs/images/extract.py results/demo/report.html \
		"How does the mean completion time change" > docs/images/completion-times.svg

clean:
	cargo clean
	rm -rf results/demo
