"""The programs that the Makefile runs: setting up .venv, opening the lessons, and others."""
