"""The film of a training: ``film`` records, ``analysis`` and ``training`` find what it shows, ``show`` shows it."""
