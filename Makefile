# Every target installs what it needs. `make help` lists them.
SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
CACHE := .cache
GO_SOURCES := $(shell find cmd internal web/embed.go -type f 2>/dev/null) go.mod go.sum
WEB_SOURCES := scripts/compress.mjs scripts/bytecode.sh $(wildcard internal/pages/render/bytecode/*.go cmd/bytecode/*.go) $(wildcard internal/*/*.html) $(shell find web/src web/public web/index.html web/vite.config.ts web/vite.server.config.ts web/tsconfig.json -type f 2>/dev/null)

.PHONY: help run dev build test test-fast soak bench bench-compare lint audit release format deps deps-test deps-bench clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: bin/atelie ## Build and serve the site with demo content and a ready owner account
	@bin/atelie serve --demo

dev: deps bin/atelie ## Serve with hot reload (site on port 5173, backend on port 8000)
	@scripts/dev.sh

build: bin/atelie ## Build the one static binary bin/atelie with the site inside

test: deps deps-test bin/atelie ## Run every test and every check, and print their number
	@node scripts/test.mjs

test-fast: deps $(CACHE)/web.stamp ## Run what is quick: format, types, TypeScript lint, Vitest, Go on SQLite without the race detector
	@node scripts/test.mjs fast

soak: deps deps-test bin/atelie ## Run the long tests in full: kills, hostile requests and files, guesses, nodes, English pages; about 20 minutes
	@node scripts/test.mjs soak

bench: deps deps-bench bin/atelie ## Print the benchmark tables
	@go run -tags nodynamic ./bench
	@npm run --silent bench:pictures
	@npm run --silent bench:gallery
	@npm run --silent bench:wall
	@npm run --silent bench:lighthouse
	@npm run --silent bench:memory

bench-compare: deps deps-bench bin/atelie ## Compare the benchmarks with another commit's in pairs: make bench-compare BASE=v1.0.0 [TABLES="pages auth"]
	@scripts/bench-compare.sh $(or $(BASE),HEAD~1) $(TABLES)

lint: deps ## Run only the linters
	@node scripts/test.mjs lint

audit: deps ## Look for known vulnerabilities, where their databases can be reached
	@scripts/audit.sh

release: deps ## Make the files of a release in dist/: programs, packages, an image, checksums; built twice and compared
	@scripts/release.sh dist $(VERSION)

format: deps ## Format all sources
	@gofmt -w cmd internal test bench tools web/embed.go
	@npm run --silent format:write

deps: $(CACHE)/npm.stamp

deps-test: ## Install the system packages that tests need (Chromium, PostgreSQL, a C compiler)
	@scripts/deps.sh test

deps-bench:
	@scripts/deps.sh bench
	@npm ci --prefix bench --no-audit --no-fund --loglevel=error

clean: ## Remove everything that was built
	@rm -rf bin dist web/dist-server $(CACHE) node_modules
	@find web/dist -mindepth 1 ! -name .gitkeep -delete

$(CACHE)/npm.stamp: package.json package-lock.json
	@scripts/deps.sh run
	@npm ci --no-audit --no-fund --loglevel=error
	@mkdir -p $(CACHE) && touch $@

$(CACHE)/web.stamp: $(CACHE)/npm.stamp $(WEB_SOURCES)
	@npm run --silent build
	@scripts/bytecode.sh
	@touch $@

bin/atelie: $(CACHE)/web.stamp $(GO_SOURCES) scripts/build.sh
	@mkdir -p bin
	@scripts/build.sh $@ $(VERSION)
