"""The calculus: every operation with its derivatives, one declaration each. `table.py` says how to read them."""
