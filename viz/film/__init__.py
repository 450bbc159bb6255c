"""Fifth room: many backward passes on one picture. ``film`` records, ``rows`` arranges, ``findings`` says what is seen."""
