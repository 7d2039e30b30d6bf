# Everything starts here: `make demo` to look around, `make test` to check. Needs Node 20.19 or newer, npm and make.
.PHONY: install build test laws demo bench lint clean check-node
.DEFAULT_GOAL := build

INSTALLED := node_modules/.installed
BUILT := dist/.built
SOURCES := $(shell find src -name '*.ts') tsconfig.json tsconfig.build.json

install: $(INSTALLED)

build: $(BUILT)

# JEST_FLAGS goes to jest as it is.
test: $(INSTALLED)
	npm test --silent -- $(JEST_FLAGS)

# The laws on many more random worlds; LAWS_SEED chooses others.
laws: $(INSTALLED)
	npm run --silent laws -- $(JEST_FLAGS)

demo: $(BUILT)
	@node dist/cli.js demo

# EVENTS is how many (20 million; the figures are of 100), RUNS how often each question is asked (15);
# DATA_DIR keeps what was generated, CHECK=1 compares all rollups with the facts.
bench: $(INSTALLED)
	@npm run --silent bench

lint: $(INSTALLED)
	npm run --silent lint
	npm run --silent types

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
