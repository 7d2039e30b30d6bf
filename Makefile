# Start here: `make demo` to look around, `make test` to check. Needs Node 20.19 or newer, npm and make.
.PHONY: install build quick test test-slow test-thorough test-all test-node check lint eslint prettier openapi-lint types laws demo bench soak clean check-node
.DEFAULT_GOAL := build

INSTALLED := node_modules/.installed
BUILT := dist/.built
SOURCES := $(shell find src -type f -not -name README.md) scripts/build-browser.ts tsconfig.json tsconfig.build.json

install: $(INSTALLED)

build: $(BUILT)

# Builds, checks, and runs the tests that need no ClickHouse: for the inner loop. eslint looks only at files that changed.
quick: export LINT_FLAGS = --cache --cache-location node_modules/.cache/eslint/
quick: check
	npm run --silent test:fast -- test/unit test/contract $(JEST_FLAGS)

# Builds, checks, and runs the tests except the slow ones. Jest gets JEST_FLAGS.
test: check
	npm run --silent test:fast -- $(JEST_FLAGS)

# Runs the slow tests: browsers, upgrades, clients, commands, kills. They repeat their work half as often as those of `make test`.
test-slow: export TEST_EFFORT ?= 0.5
test-slow: $(BUILT)
	npm run --silent test:slow -- $(JEST_FLAGS)

# Runs what takes minutes and few changes can break. It takes more than an hour.
test-thorough: $(BUILT)
	npm run --silent test:thorough -- $(JEST_FLAGS)

# Runs all tests and leaves little out. It takes hours: for a release.
test-all: check
	TEST_EFFORT=10 npm run --silent test:jest -- $(JEST_FLAGS)

# Runs the tests of `make test` on another version of Node: make test-node NODE=24.
test-node: $(BUILT)
	npx --yes --package=node@$(NODE) -- npm run --silent test:fast -- $(JEST_FLAGS)

# Builds and runs all checks, two at a time.
check: $(INSTALLED)
	@$(MAKE) --no-print-directory -j2 eslint $(BUILT) types prettier openapi-lint

lint: eslint prettier openapi-lint types

eslint: $(INSTALLED)
	npm run --silent lint:code

prettier: $(INSTALLED)
	npm run --silent lint:format

openapi-lint: $(INSTALLED)
	npm run --silent lint:openapi

types: $(INSTALLED)
	npm run --silent types

# Runs the property tests on many more random worlds. LAWS_SEED selects other worlds.
laws: $(INSTALLED)
	npm run --silent laws -- $(JEST_FLAGS)

# Runs the demo. SHARDS: embedded engines to spread it over (default: one engine).
demo: $(BUILT)
	@$(if $(SHARDS),EMBEDDED_SHARDS=$(SHARDS) DEFAULT_WIDTH=$(SHARDS)) node dist/cli.js demo

# Measures queries. EVENTS: events to generate (default: 20 million; bench/README.md has figures for 100 million).
# RUNS: runs per query (default: 15). DATA_DIR: folder that keeps the generated data. CHECK=1: also check the rollups.
bench: $(INSTALLED)
	@npm run --silent bench

# Runs the service under load for MINUTES (default: 30), and prints what grows.
soak: $(INSTALLED)
	@npm run --silent bench:soak

clean:
	rm -rf dist node_modules

check-node:
	@node -e "var v = process.versions.node.split('.').map(Number); \
	  process.exit(v[0] > 20 || (v[0] === 20 && v[1] >= 19) ? 0 : 1)" 2>/dev/null \
	  || { echo "Tallyhouse needs Node 20.19 or newer; found: $$(node --version 2>/dev/null || echo none)" >&2; exit 1; }

$(INSTALLED): package-lock.json | check-node
	npm ci --ignore-scripts --no-audit --no-fund
	@touch $@

$(BUILT): $(SOURCES) $(INSTALLED)
	npm run --silent build
	@touch $@
