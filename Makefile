# paraply: `make help` lists the targets. Every target installs what it needs into .venv first:
# `make demo` the core, which takes seconds, every other target all extras and tools.
# The two a new user needs: `make demo` and `make test`.

VENV   := .venv
BIN    := $(VENV)/bin
CORE   := $(VENV)/.core
READY  := $(VENV)/.ready
WORKERS ?= 2
# Live tests wait for servers most of the time.
LIVE_WORKERS ?= 3
FLAVOUR ?= mariadb
SECONDS ?= 600
# Inputs that reached new code, for later runs.
CORPUS  ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/paraply/fuzz
SEEDED  := $(if $(SEED),--seed $(SEED))
PYTEST  := $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --hypothesis-profile=ci

# Hundreds of short processes would compile the same modules again, and pytest all tests.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help install demo test long-tests check bench scale platforms stranger browser-audit soak prove certificates stability cluster-test live-tests live oracle timing coq nightly fuzz \
  mutation-score mutation-score-models format docs pages wheel lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(CORE): requirements-core.lock pyproject.toml ci/bootstrap
	@ci/bootstrap $(VENV) core
	@touch $@

$(READY): $(CORE) requirements.lock
	@ci/bootstrap $(VENV)
	@echo "paraply: compiling kernels for large logs (a minute, once)" >&2
	@$(BIN)/python -m ci.kernels >/dev/null
	@touch $@

install: $(READY) ## create .venv with everything in it; .venv/bin/paraply is the command

demo: $(CORE) ## audit the shipped real binlogs and write the report to out/demo/
	@$(BIN)/python -m ci.demo

test: $(READY) ## unit, property, golden and mutant tests, six minutes (no server, no root)
	@$(PYTEST) -m "not live and not nightly and not long" $(ARGS)

long-tests: $(READY) ## the tests that take seconds each, half an hour (no server, no root)
	@$(PYTEST) -m "long and not live and not nightly" $(ARGS)

check: $(READY) ## format, lint, types, layers, sizes, words, generated pages
	@$(BIN)/python -m ci.check

bench: $(READY) ## speed, side by side with baselines; one of them: make bench ARGS=audit
	@$(BIN)/python -m ci.bench $(ARGS)

scale: $(READY) ## cost of campaigns and tables from 10^4 to 10^8, stored in docs; continues where it ended
	@$(BIN)/python -m ci.scale $(ARGS)
	@$(BIN)/python -m ci.pages.scale --write

platforms: $(READY) ## where the core and each extra install, stored in docs (needs a network)
	@$(BIN)/python -m ci.platforms $(ARGS)
	@$(BIN)/python -m ci.installs
	@$(BIN)/python -m ci.pages.platforms --write

stranger: $(READY) ## time and megabytes of a new user to a first verdict, stored in docs (needs a network)
	@$(BIN)/python -m ci.stranger $(ARGS)
	@$(BIN)/python -m ci.pages.first_verdict --write

browser-audit: $(READY) ## the audit as one page in build/audit.html, which runs in a browser (npm fetches Pyodide)
	@$(BIN)/python -m ci.pages.browser_audit

soak: $(READY) ## audit 10 GB and run a campaign of two hours; fails if memory grows
	@$(BIN)/python -m ci.soak $(ARGS)

prove: $(READY) ## prove every theorem with two solvers and a kernel without one, refute the rest
	@$(BIN)/paraply prove $(ARGS)

certificates: $(READY) ## make the kernel's certificates again, after a change of paraply/models/
	@$(BIN)/python -m paraply.models.judging.certificates
	@$(BIN)/python -m ci.pages.proofs.dropping
	@$(BIN)/python -m ci.pages.proofs.finding
	@$(BIN)/python -m ci.pages.proofs.witnesses
	@$(BIN)/python -m ci.pages.proofs.surroundings
	@$(BIN)/python -m paraply.proving.assistant --write
	@$(BIN)/python -m ci.pages.proofs.pages --write

coq: $(READY) ## check every system in Coq: theorems about all runs, no axiom (needs Debian's coq)
	@$(BIN)/python -m paraply.proving.assistant $(ARGS)

stability: $(READY) ## ten seeds and ten orders of every obligation in both solvers (twenty minutes)
	@$(BIN)/python -m paraply.proving.stability
	@$(BIN)/python -m ci.pages.proofs.pages --write

cluster-test: $(READY) ## a campaign on a Spark cluster of this machine, a worker killed in the middle
	@$(BIN)/python -m ci.cluster_test $(ARGS)

live-tests: $(READY) ## tests against real servers, a quarter of an hour (ci/servers installs them)
	@$(BIN)/python -m pytest -n $(LIVE_WORKERS) --dist loadfile --no-loadscope-reorder -m "live and not nightly" --hypothesis-profile=ci $(ARGS)

oracle: $(READY) ## hold the audit against a real server, 50,000 pairs, resumable (FLAVOUR=mysql or mariadb-11.8)
	@$(BIN)/python -m tests.oracle --flavour $(FLAVOUR) --store build/oracle-$(FLAVOUR).json $(ARGS)

timing: $(READY) ## time real replicas and store the results beside predictions (90 minutes)
	@$(BIN)/python -m tests.timing --logs tests/fixtures/timing --store docs/measured-replicas.jsonl $(ARGS)
	@$(BIN)/python -m tests.timing --server mysql --logs tests/fixtures/timing --store docs/measured-mysql-replicas.jsonl \
	  $(ARGS)
	@$(BIN)/python -m ci.pages.measured_replicas --write

mutation-score: $(READY) ## 500 generated mutants of the reference (others: ARGS=judges, ARGS=suite); continues
	@$(BIN)/python -m ci.mutation $(ARGS)

mutation-score-models: $(READY) ## 40 generated mutants of each transition system; continues where it ended
	@$(BIN)/python -m ci.mutation.models $(ARGS)

nightly: $(READY) ## the long versions of what `.ci/run` checks briefly (hours)
	@ci/servers --only clouds
	@$(MAKE) long-tests
	@$(MAKE) cluster-test
	@$(PYTEST) -m nightly
	@$(MAKE) prove
	@$(MAKE) stability
	@$(BIN)/python -m paraply.proving.readings
	@$(BIN)/python -m tests.models.random_systems --systems 10000
	@$(BIN)/python -m tests.properties.two_logs.against_brute_force --cases 100000
	@$(BIN)/python -m paraply.exploring.healthy --histories 1000000
	@$(MAKE) mutation-score ARGS="suite --sample 2000"
	@$(MAKE) mutation-score ARGS="--sample 20000"
	@$(MAKE) mutation-score-models ARGS="--each 1000"
	@$(BIN)/python -m tests.fuzz --seconds 10800 --corpus $(CORPUS)
	@$(BIN)/python -m tests.models.kernel.fuzz --problems 100000
	@$(MAKE) oracle FLAVOUR=mariadb
	@$(MAKE) oracle FLAVOUR=mariadb-11.8
	@$(MAKE) oracle FLAVOUR=mysql
	@$(MAKE) live-tests
	@$(MAKE) live

live: $(READY) ## every live target, fault, client workload and counterexample anew into docs (hours)
	@$(BIN)/python -m ci.live_results $(ARGS)
	@$(BIN)/python -m ci.client_claims $(ARGS)
	@$(BIN)/python -m ci.live_results --server mariadb-11.8 --only mariadb mariadb-semisync $(ARGS)
	@$(BIN)/python -m ci.client_claims --server mariadb-11.8 --only mariadb mariadb-semisync $(ARGS)
	@$(BIN)/python -m ci.client_volume
	@$(BIN)/python -m ci.pages.client_volume --write
	@$(BIN)/python -m ci.counterexamples --publish
	@$(BIN)/python -m ci.programs --publish
	@$(BIN)/python -m ci.pages.programs --write

fuzz: $(READY) ## fuzz every reader for ten minutes in all, and the proof kernel (SEED=1 for the same inputs)
	@$(BIN)/python -m tests.fuzz --seconds $(SECONDS) \
	  $(if $(SEED),--seed $(SEED) --counts tests/fuzz/counts.json,--corpus $(CORPUS))
	@$(BIN)/python -m tests.models.kernel.fuzz --problems 10000 $(SEEDED)

format: $(READY) ## format the code
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .

docs: $(READY) ## build the documents as a site in build/site, links checked
	@$(BIN)/python -m ci.docs

pages: $(READY) ## write the generated pages again
	@$(BIN)/python -m ci.check --write

wheel: $(READY) ## build the wheel into dist/, the same bytes for the same commit (ARGS=--kernels: another with kernels)
	@$(BIN)/python -m ci.wheel $(ARGS)

lock: $(READY) ## resolve requirements.lock again
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --no-emit-find-links --no-header --no-annotate --all-extras pyproject.toml -o requirements.lock
	@$(BIN)/python -m ci.pages.dependencies --write

clean: ## remove the environment, caches and written reports
	rm -rf $(VENV) out build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
