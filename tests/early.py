"""Loaded by `-p tests.early` before pytest's other plugins: nbval imports nbformat and jsonschema, which imports, if installed,
a package that spends a second in each process parsing a grammar for addresses that no notebook has. jsonschema also works
without it.
"""

import sys

sys.modules.setdefault("rfc3987_syntax", None)
