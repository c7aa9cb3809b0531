# Everything needs python3.11, pip and make only. VENV is made from the lock and made again when the lock changes.
VENV := .venv
PYTHON ?= python3.11
RUN := PATH="$(CURDIR)/$(VENV)/bin:$$PATH"
