"""What the Makefile runs: setting up .venv, opening the lessons."""
