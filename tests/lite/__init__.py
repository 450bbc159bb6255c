"""Checks of the lessons for browsers, as `make lite` writes them; `make trylite` runs these."""
