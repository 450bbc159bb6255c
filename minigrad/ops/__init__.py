"""The operations, in families: pointwise, reduction, shape, indexing, linalg, nn, images; and how they are declared and run:
table, op, source, signature, apply, general, operands, inplace, errors, publish."""
