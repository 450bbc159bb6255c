"""The film of a training run: ``film`` records, ``analysis`` and ``training`` find what it shows, ``show`` shows it."""
