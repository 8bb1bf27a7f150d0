PYTHON ?= python3
ARGS ?=

.PHONY: demo serve quick test night libraries lint docs bench faults chaos load audit pins release sign docs-pictures scanner

demo: .venv/ready        ## a sample track to look at: make demo ARGS="--port 0"
	.venv/bin/python manage.py demo $(ARGS)

serve: .venv/ready       ## your own: everything lies in var/
	.venv/bin/python manage.py serve $(ARGS)

# Or every process that a test starts would compile the project anew.
unexport PYTHONDONTWRITEBYTECODE

# A whole lane takes all cores; a folder begins sooner on one.
ALL_CORES = $(if $(findstring tests/,$(ARGS)),,-n auto --dist loadgroup)

quick: .venv/dev         ## without services, browser and data: make quick ARGS=tests/scoring
	.venv/bin/python -m pytest -q --no-migrations \
	  -m "not (services or browser or data or long or night)" $(ALL_CORES) $(ARGS)

test: .venv/dev          ## what a change has to pass; what this machine lacks is counted as skipped
	.venv/bin/python -m pytest -m "not night" $(ALL_CORES) $(ARGS)

night: .venv/night       ## every test there is, some of them on both databases
	.venv/bin/python -m pytest $(ALL_CORES) $(ARGS)
	$(if $(ARGS),,$(MAKE) libraries)

# Tests that meet a real library, whose versions the others may not want.
MEETINGS = tests/client tests/evaluation/test_library.py tests/evaluation/test_files_of_tools.py
libraries: .venv-libraries/ready  ## beside the real PyTerrier, MTEB, BEIR, sentence-transformers, ranx ...
	.venv-libraries/bin/python -m pytest -q --no-migrations -m night $(MEETINGS) $(ARGS)

lint: .venv/dev
	.venv/bin/ruff check . && .venv/bin/ruff format --check . && .venv/bin/mypy
	.venv/bin/djangofmt --check -q templates

docs: .venv/dev          ## the site of documentation in build/docs/; a broken link fails
	.venv/bin/python -m mkdocs build --strict -f docs/site/mkdocs.yml $(ARGS)

docs-pictures: .venv/dev ## the pictures of the documentation, taken on a fresh demo
	.venv/bin/python -m tests.browser.pictures

faults: .venv/dev        ## every fault on both profiles: make faults ARGS="--times 5"
	.venv/bin/python -m tests.faults $(ARGS)

chaos: .venv/dev         ## half an hour of kills while runs arrive: make chaos ARGS="--minutes 2"
	.venv/bin/python -m tests.faults.chaos $(ARGS)

load: .venv/dev          ## a site under load, half an hour: make load ARGS=--quick
	.venv/bin/python -m benchmarks.load $(ARGS)

bench: .venv/dev         ## every table of benchmarks/, which take an hour
	.venv/bin/python -m benchmarks.scoring
	.venv/bin/python -m benchmarks.significance
	.venv/bin/python -m benchmarks.boards
	.venv/bin/python -m benchmarks.several_tracks
	.venv/bin/python -m benchmarks.crowd
	.venv/bin/python -m benchmarks.submission
	.venv/bin/python -m benchmarks.starting
	.venv/bin/python -m benchmarks.judging
	.venv/bin/python -m benchmarks.agreement
	.venv/bin/python -m benchmarks.parameters
	.venv/bin/python -m benchmarks.answers
	.venv/bin/python -m benchmarks.growth
	.venv/bin/python -m benchmarks.reported

scanner: .venv/dev       ## the compiled scanner, which is optional: a wheel in build/scanner/, installed here
	rm -rf build/scanner
	cd scanner && ../.venv/bin/python -m hatchling build -t wheel -d ../build/scanner
	.venv/bin/pip install -q --no-deps --force-reinstall build/scanner/*.whl

audit: .venv/dev         ## known holes in what is pinned; says so where no list of them is reached
	.venv/bin/python -m tests.security.auditing requirements.txt requirements-s3.txt requirements-server.txt

# What may be installed, to the byte: exact versions with the hashes of their files.
PIN = .venv/bin/uv pip compile -q pyproject.toml --universal --python-version 3.11 \
  --generate-hashes --no-header --no-annotate
pins: .venv/ready
	$(PIN) --extra server --group test -o requirements.txt
	$(PIN) --extra server --extra s3 --group test -c requirements.txt -o requirements-s3.txt
	$(PIN) --extra server --extra s3 -c requirements-s3.txt -o requirements-server.txt
	$(PIN) --extra server --group dev -c requirements.txt -o requirements-dev.txt
	$(PIN) --group night -c requirements-dev.txt -o requirements-night.txt
	$(PIN) --extra server --extra mcp --extra keyring --group libraries -c requirements.txt \
	  -o requirements-libraries.txt
	$(subst pyproject.toml,,$(PIN)) --group chart -c requirements.txt -o requirements-chart.txt

release: .venv/dev       ## dist/: the wheel, the source, what they need (CycloneDX) and the hashes of all
	.venv/bin/python -m pytest -q tests/test_release.py
	rm -rf dist
	.venv/bin/python -m hatchling build
	.venv/bin/twine check --strict dist/*
	.venv/bin/python -m tests.security.bill_of_materials requirements-server.txt > dist/rankfield.cdx.json
	cd dist && sha256sum * > SHA256SUMS
	$(if $(SIGN_KEY),$(MAKE) sign)

# SIGN_KEY is the file of a key of OpenSSH, whose public half is a line of SIGNERS.
SIGNERS ?= release-signers
NAMED = -n rankfield-release
sign:                    ## dist/SHA256SUMS.sig: make release SIGN_KEY=~/.ssh/release
	$(if $(SIGN_KEY),,$(error give SIGN_KEY, the file of a key))
	ssh-keygen -q -Y sign -f $(SIGN_KEY) $(NAMED) dist/SHA256SUMS
	ssh-keygen -q -Y verify -f $(SIGNERS) -I rankfield $(NAMED) -s dist/SHA256SUMS.sig < dist/SHA256SUMS

# uv installs in seconds; where it cannot be had, pip does the same. Without bytecode, which uv
# leaves out, every process would compile numpy and Django anew where Python may not write.
INSTALL = .venv/bin/uv pip install -q --compile-bytecode -p .venv/bin/python --require-hashes
.venv/ready: requirements.txt
	$(PYTHON) -m venv .venv
	.venv/bin/pip install -q uv && $(INSTALL) -r $< \
	  || .venv/bin/pip install -q --require-hashes -r $<
	touch $@

.venv/dev: requirements-dev.txt .venv/ready
	$(INSTALL) -r $< \
	  || .venv/bin/pip install -q --require-hashes -r $<
	touch $@

.venv/night: requirements-night.txt .venv/dev
	$(INSTALL) -r $< \
	  || .venv/bin/pip install -q --require-hashes -r $<
	touch $@

# requirements-libraries.txt is complete without PyTorch, so pip need not look for what is missing.
INSTALL_ALONE = .venv-libraries/bin/pip install -q --require-hashes --no-deps
.venv-libraries/ready: requirements-libraries.txt requirements-apart.txt
	$(PYTHON) -m venv .venv-libraries
	$(INSTALL_ALONE) -r $<
	grep -v '^#' requirements-apart.txt | while read -r one; do \
	  echo "$$one" | $(INSTALL_ALONE) --ignore-requires-python -r /dev/stdin \
	    || echo "Not at hand, so its tests are skipped: $${one%% *}. See CONTRIBUTING.md."; done
	touch $@
