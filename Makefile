# The commands of the project; `make` alone lists them.

CARGO ?= cargo
FTLAB := target/release/ftlab
# After a full build (`make build`), the demo does not replace it with a lean one.
FULL := target/release/.full
DEMO := demo/tpcc-mariadb.parquet
PYTHON ?= python3
VENV := target/python
STREAM ?= 1GB
WRITES ?= 3000000
BOARD := tpcc-mariadb linkbench-mariadb pgbench-postgresql ycsb-rocksdb fio-zipf-0.5 fio-zipf-0.9 fio-zipf-1.1
PROGRAM ?= fio file-systems clients power-cuts full-disk long-run sqlite postgresql mariadb tenants rocksdb
TARGET ?= drive
PREFIX ?= /usr/local
# Tests that serve drives, kill and record wait more than they compute: two for each processor.
TEST_THREADS ?= $(shell echo $$((2 * $$(getconf _NPROCESSORS_ONLN))))

.DEFAULT_GOAL := help
.PHONY: help demo build install test test-all python test-python check check-all check-lean check-docs audit fmt bench bench-large bench-traces bench-caches bench-stream bench-sweep build-times golden release reproduce hot-cold setup-record programs fuzz fio-differential crash-tests fault-tests bench-drive bench-guest scoreboard scoreboard-hints docs docs-figures docs-outputs setup-python setup-system setup-drive setup-guest setup-report

help: ## lists the commands
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

demo: setup-system ## runs four FTLs on a real database trace
	$(CARGO) build --release --locked --package ftlab-cli $(if $(wildcard $(FULL)),--features full)
	$(FTLAB) run $(DEMO) \
		--ftl 1r-greedy --ftl 2r-greedy --ftl 2r-fifo --ftl 2r++

build: setup-system ## builds target/release/ftlab with everything: live drives, recording, PNG, completions
	$(CARGO) build --release --locked --package ftlab-cli --features full
	touch $(FULL)

install: build ## installs ftlab with its manual pages and completions below PREFIX (/usr/local); as root, or PREFIX=~/.local
	install -D $(FTLAB) $(DESTDIR)$(PREFIX)/bin/ftlab
	$(FTLAB) man --out $(DESTDIR)$(PREFIX)/share/man/man1
	mkdir -p $(DESTDIR)$(PREFIX)/share/bash-completion/completions $(DESTDIR)$(PREFIX)/share/zsh/site-functions \
		$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	$(FTLAB) completions bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/ftlab
	$(FTLAB) completions zsh > $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_ftlab
	$(FTLAB) completions fish > $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/ftlab.fish

# Lints and tests leave a processor idle now and then. So what is for Python is installed beside the lints, and compiled and
# tested beside the other tests, as are the lints that few changes break; what that says comes after them.
test: setup-system ## runs everything: lints, documentation and all tests
	$(MAKE) $(VENV)/requirements.lock & beside=$$!; trap "kill $$beside" INT; \
		$(MAKE) check-all; checked=$$?; wait $$beside && exit $$checked
	$(CARGO) test --locked --workspace --features ftlab-cli/full --no-run
	$(MAKE) --keep-going test-python check-lean check-docs > target/beside.log 2>&1 & beside=$$!; trap "kill $$beside" INT; \
		RUST_TEST_THREADS=$(TEST_THREADS) $(CARGO) test --locked --workspace --features ftlab-cli/full; tested=$$?; \
		wait $$beside; other=$$?; cat target/beside.log; [ $$other -eq 0 ] && exit $$tested

test-all: ## runs everything, and all cases of tests of which `make test` runs a third (CONTRIBUTING.md)
	FTLAB_TEST_ALL=1 $(MAKE) test

python: setup-system $(VENV)/requirements.lock ## builds the Python package into target/python, for its tests
	VIRTUAL_ENV=$(abspath $(VENV)) $(VENV)/bin/maturin develop --quiet --profile dev

$(VENV)/requirements.lock: python/requirements.lock | setup-python
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --no-compile --requirement $<
	cp $< $@

test-python: python ## runs lints, type checks and tests of the Python package, and checks spelling everywhere
	$(VENV)/bin/typos
	$(VENV)/bin/ruff format --check python
	$(VENV)/bin/ruff check python
	$(VENV)/bin/pytest --quiet -rs --numprocesses logical

docs-outputs: python ## writes the outputs in README.md and docs/ again, from the commands above them; check the diff
	FTLAB_WRITE_DOCS=1 $(VENV)/bin/pytest --quiet -rs python/tests/test_docs.py -k 'shows_what'

check: check-all check-lean check-docs ## runs the lints and builds the Rust documentation

check-all: setup-system
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets --features ftlab-cli/full -- --deny warnings

check-lean: setup-system
	$(CARGO) clippy --locked --package ftlab-cli -- --deny warnings

check-docs: setup-system
	RUSTDOCFLAGS="--deny warnings" $(CARGO) doc --locked --workspace --no-deps --features ftlab-cli/full

docs: setup-system target/docs/venv/installed ## builds the documentation site: target/docs/html/index.html
	VIRTUAL_ENV=$(abspath target/docs/venv) target/docs/venv/bin/maturin develop --quiet --profile dev
	target/docs/venv/bin/sphinx-build --jobs auto --fail-on-warning --keep-going --nitpicky --quiet \
		-d target/docs/doctrees docs target/docs/html

target/docs/venv/installed: docs/requirements.txt | setup-python
	$(PYTHON) -m venv --clear target/docs/venv
	target/docs/venv/bin/pip install --quiet --no-compile --requirement docs/requirements.txt
	touch $@

docs-figures: build python ## redraws pictures of the manual that need no recording; with TRACE=rocksdb.parquet that of docs/rocksdb.md
	$(FTLAB) run $(DEMO) --ftl 1r-greedy --ftl 2r-fifo --ftl 2r++ \
		--quiet --out target/figures/tpcc
	$(FTLAB) report target/figures/tpcc --flash docs/figures/flash-tpcc.png
	$(FTLAB) run hotcold:writes=0.9,pages=0.1 --logical 256MiB --pages-per-block 128 --fill random \
		--drive-writes 6 --ftl 1r-greedy --ftl 2r++ --ftl sepbit --quiet --out target/figures/hotcold
	$(FTLAB) report target/figures/hotcold --flash docs/figures/flash-hotcold.png
	$(FTLAB) run uniform --logical 16MiB --pages-per-block 128 --op 30% \
		--drive-writes 0.6 --ftl 1r-greedy --quiet --out target/figures/uniform
	$(FTLAB) report target/figures/uniform --flash docs/figures/flash-uniform.png
	$(PYTHON) scripts/bench_figure.py docs/benchmarks.md docs/figures/bench.svg
	$(PYTHON) scripts/atlas_figure.py drives docs/figures/atlas.svg
	$(PYTHON) scripts/mapping_figure.py $(FTLAB) docs/figures/mapping.svg
	$(if $(TRACE),$(FTLAB) run $(TRACE) --ignore-trims --op 7% --reserve 8 --repeat --drive-writes 60 \
		--ftl nvme-fdp --ftl 1r-greedy --ftl sepbit --quiet --figure docs/figures/rocksdb-handles.svg)
	$(FTLAB) run hotcold:writes=0.9,pages=0.1 --logical 256MiB --pages-per-block 128 --fill random \
		--drive-writes 6 --ftl 1r-greedy --ftl 2r-fifo --ftl 2r++ --ftl sepbit --ftl fk \
		--quiet --figure docs/figures/hotcold-waf.svg
	$(FTLAB) run hotcold:writes=0.9,pages=0.1 --logical 256MiB --pages-per-block 64 \
		--drive-writes 4 --ftl fast --ftl faster --ftl page --quiet --figure docs/figures/hybrid-waf.svg
	$(FTLAB) run fio-randwrite --logical 1GiB --op 14.5% --fill sequential --drive-writes 12 --ftl 1r-greedy --ftl 2r++ \
		--quiet --figure docs/figures/fio-random-map.svg
	$(FTLAB) run hotcold --logical 64MiB --op 10% --ftl 1r-greedy --ftl 2r++ --until steady \
		--quiet --figure docs/figures/steady.svg
	$(FTLAB) run cachelib:soc=0.04,region=64KiB --logical 256MiB --op 14.5% --pages-per-block 256 \
		--reserve 9 --fill none --warmup-writes 262144 --drive-writes 4 \
		--ftl nvme-fdp/greedy:persistent=all --ftl 1r-greedy --quiet --figure docs/figures/cache-handles.svg
	$(FTLAB) fleet fleet:volumes=200 --compact --ftl 1r-greedy,2r-fifo,sepbit --op 15% \
		--select 'written > 2 * footprint and footprint > 1MiB' --quiet --out target/figures/fleet
	cp target/figures/fleet/fleet.svg docs/figures/fleet.svg
	awk '/^```toml/ { on = 1; next } on && /^```/ { exit } on' docs/experiments.md > target/figures/op.toml
	$(FTLAB) reproduce target/figures/op.toml --out target/figures/experiment
	cp target/figures/experiment/op.svg docs/figures/experiment-op.svg
	$(VENV)/bin/python -c 'import ftlab; drive = ftlab.Drive("256MiB", op="12.5%", pages_per_block=256, gc="incremental"); \
		result = ftlab.run("hotcold:writes=0.9,pages=0.1", ["2r-fifo:blk-util=0.4", "sepbit"], drive=drive, \
			fill="sequential", drive_writes=6, timing="slc", observe=True, progress=False); \
		ftlab.plot.moves(result).savefig("docs/figures/python-moves.svg")'

audit: ## checks licences, sources and known vulnerabilities of dependencies
	@command -v cargo-deny >/dev/null || $(CARGO) install --locked cargo-deny
	$(CARGO) deny --locked check licenses bans sources
	@if $(CARGO) deny fetch db 2>/dev/null; then \
		$(CARGO) deny --locked --offline check advisories; \
	else \
		echo "SKIPPED: advisories, whose database (github.com/RustSec/advisory-db) cannot be fetched"; \
	fi

release: setup-system target/tools/bin/maturin ## builds wheel, static program, image, bill of materials and checksums in target/release-VERSION
	scripts/release.sh

target/tools/bin/maturin: | setup-python
	$(PYTHON) -m venv target/tools
	target/tools/bin/pip install --quiet maturin==1.16.0 wheel==0.48.0 ziglang==0.17.1

fmt: ## formats the code
	$(CARGO) fmt --all

bench: ## measures nanoseconds per flash page program, on an 8 GiB drive
	$(CARGO) run --release --locked --package ftlab-bench

bench-large: ## measures the same on a 512 GiB drive; needs 1.5 GB of memory
	$(CARGO) run --release --locked --package ftlab-bench -- large

bench-sweep: ## measures the processor utilisation and the overhead per run of 1,000 small runs
	$(CARGO) run --release --locked --package ftlab-bench -- sweep

bench-traces: ## measures page writes per second of every trace reader and generator
	$(CARGO) run --release --locked --package ftlab-workload --example decode_speed

bench-caches: ## measures page writes per second of the workloads of caches
	$(CARGO) run --release --locked --package ftlab-workload --example decode_speed -- cache

build-times: ## measures processor seconds of the first build per crate, compared with COMMIT (the last release); 20 minutes
	$(PYTHON) scripts/build_times.py $(COMMIT)

bench-stream: build ## measures time and memory of `ftlab convert` on a trace larger than memory (STREAM=20GB)
	$(CARGO) build --release --locked --package ftlab-trace --example msr_lines
	target/release/examples/msr_lines $(STREAM) | \
		/usr/bin/time -f '%e s, %M KiB of memory at most' $(FTLAB) convert - target/stream.parquet
	rm target/stream.parquet

reproduce: build ## reproduces every table and figure of the papers, scaled to an eighth; traces in FTLAB_SHARED
	$(FTLAB) reproduce all --scale 1/8

bench-drive: build ## measures page writes to a drive, and serving it compared with nbdkit (make setup-drive; loop devices need root)
	$(CARGO) run --release --locked --package ftlab-drive --example drive_speed
	$(CARGO) run --release --locked --package ftlab-serve --example front_ends
	$(CARGO) build --release --locked --package ftlab-serve --example nbd_ram
	$(CARGO) run --release --locked --package ftlab-bench -- live-drive

bench-guest: build ## compares NVMe with the kernel's own server, in the guest of `make setup-guest` (docs/drive.md)
	scripts/guest.sh run target/guest crates/ftlab-serve/examples/nvme_guest_speed.sh $(FTLAB) \
		crates/ftlab-serve/tests/nvmet.sh

hot-cold: ## measures the cost of hotness tests, after Lee and Kim (docs/notes/reproduction.md)
	$(CARGO) run --release --locked --package ftlab-bench -- hot-cold

setup-record: ## installs the programs for recording, its tests and its guide (docs/record.md); as root
	apt-get update && apt-get install --yes --no-install-recommends \
		strace e2fsprogs sqlite3 postgresql mariadb-server mariadb-client sysbench

setup-drive: ## installs the programs for the tests of the live drive and `make programs`; as root
	apt-get update && apt-get install --yes --no-install-recommends \
		fio nbdkit libnbd-bin python3-libnbd qemu-utils qemu-system-common fuse3 e2fsprogs xfsprogs \
		gnutls-bin postgresql mariadb-server mariadb-client sysbench rocksdb-tools dbench

setup-guest: ## makes the guest in which the kernel's NVMe/TCP is tested: target/guest; as root
	scripts/guest.sh make target/guest

setup-report: ## installs the programs for the tests of the report page: Chromium, Playwright, axe; as root
	apt-get update && apt-get install --yes --no-install-recommends chromium nodejs npm
	npm ci --prefix crates/ftlab-report/browser

programs: build ## runs real programs on a live drive: PROGRAM=fio SIZE=10G, or SECONDS=150 (docs/drive-programs.md); as root
	set -e; for program in $(PROGRAM); do \
		python3 crates/ftlab-serve/programs $$program $(SIZE:%=--size %) $(SECONDS:%=--seconds %) \
			$(JOBS:%=--jobs %) $(LOAD:%=--load %) --figure docs/figures/drive-$$program.svg; done

fuzz: ## fuzzes what reads bytes of others: TARGET=superblock, journal, drive, nbd, nvme, fio-jobs, blkparse, parquet, ...
	scripts/fuzz.sh $(TARGET) $(or $(SECONDS),150)

fio-differential: ## compares random jobs with the installed fio, or that of FTLAB_FIO: COUNT=3000 SEED=1 (docs/fio.md)
	FTLAB_FIO_JOBS=$(or $(COUNT),3000) FTLAB_FIO_SEED=$(or $(SEED),1) \
		$(CARGO) test --locked --package ftlab-fio --test it -- random_jobs --nocapture

crash-tests: ## runs 1,000 power cuts for every FTL, 300 takeovers, and 50 kills for each family; half an hour
	$(CARGO) test --release --locked --package ftlab-drive --test it -- crash:: kill:: --include-ignored --nocapture

fault-tests: ## puts one fault at a time everywhere on drives of every FTL, and every choice of every parameter under loads; an hour
	$(CARGO) test --release --locked --package ftlab-drive --test it -- faults:: choices:: --include-ignored --nocapture

scoreboard: build ## runs all FTLs on seven captured traces of FTLAB_SHARED (docs/scoreboard.md); resumes a stopped run (WRITES=...)
	$(FTLAB) compare $(BOARD:%=$(FTLAB_SHARED)/traces/%.parquet) --fill none,sequential --pages-per-block 512 --ignore-trims --writes $(WRITES) --baseline rivals --out target/scoreboard

# Applications whose writes name streams.
HINTED := three-streams three-streams:overwrites=zipf three-streams:overwrites=zoned cachelib:soc=0.2,region=256KiB lsm:streams=on,data=0.7,trim=off lmcache:trim=off

scoreboard-hints: build ## runs applications that name streams, on FTLs that take hints and that do not (docs/notes/hints.md)
	$(FTLAB) compare $(HINTED) --logical 2GiB --op 3%,7%,28% --fill none --drive-writes 3 --pages-per-block 64,256,1024 --reserve 12 \
		--ftl hazard --ftl sepbit --ftl nvme-fdp:handles=4 --ftl nvme-fdp:handles=4,inner=hazard --ftl nvme-fdp:handles=4,inner=sepbit \
		--baseline hazard --out target/scoreboard-hints
	$(FTLAB) inspect $(HINTED) --logical 2GiB --writes 1600000

golden: ## rewrites the golden counters of all FTLs and the versions of what decides; check the diff
	FTLAB_WRITE_GOLDEN=1 $(CARGO) test --locked --package ftlab-sim --test it -- golden_counters::

setup-python: ## installs what the Python package needs, if missing
	@$(PYTHON) -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "Python 3.11 or later with its module venv is missing; installing it"; \
		apt-get update && apt-get install --yes --no-install-recommends python3 python3-venv; }

setup-system: ## installs what the build needs, if missing
	@command -v $(CARGO) >/dev/null || { \
		echo "cargo is missing: install Rust 1.88 or later from https://rustup.rs" >&2; exit 1; }
	@command -v cc >/dev/null || { \
		echo "a C compiler is missing; installing it (Zstandard is written in C)"; \
		apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev; }
