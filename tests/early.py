"""Loaded by `-p tests.early` before pytest's other plugins: with nbval come nbformat and jsonschema, and with that one,
where it is installed, a package that parses a grammar for a second in each process, to check addresses that no notebook
has. jsonschema does without it, too.
"""

import sys

sys.modules.setdefault("rfc3987_syntax", None)
