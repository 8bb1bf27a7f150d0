PYTHON ?= python3
ARGS ?=

.PHONY: demo serve test lint bench

demo: .venv/ready        ## a sample track to look at: make demo ARGS="--port 0"
	.venv/bin/python manage.py demo $(ARGS)

serve: .venv/ready       ## your own: everything lies in var/
	.venv/bin/python manage.py serve $(ARGS)

test: .venv/dev          ## the whole suite; what this machine lacks is counted as skipped
	.venv/bin/python -m pytest $(ARGS)

lint: .venv/dev
	.venv/bin/ruff check . && .venv/bin/ruff format --check . && .venv/bin/mypy

bench: .venv/dev         ## every table of benchmarks/, which take some twenty minutes
	.venv/bin/python -m benchmarks.scoring
	.venv/bin/python -m benchmarks.significance
	.venv/bin/python -m benchmarks.boards
	.venv/bin/python -m benchmarks.submission

# uv installs in seconds; where it cannot be had, pip does the same.
.venv/ready: requirements.txt
	$(PYTHON) -m venv .venv
	.venv/bin/pip install -q uv && .venv/bin/uv pip install -q -p .venv/bin/python -r $< \
	  || .venv/bin/pip install -q -r $<
	touch $@

.venv/dev: requirements-dev.txt .venv/ready
	.venv/bin/uv pip install -q -p .venv/bin/python -r $< || .venv/bin/pip install -q -r $<
	touch $@
