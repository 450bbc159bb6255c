"""The operations.

Declared, by family: pointwise, casts, special (elements); reduction, statistics, norms; shape, arrange, stacking; indexing,
selection; linalg, products, decompositions; nn, activations, losses, normalisation, images, pooling (neural networks).

How they are declared and run: table, op, signature, apply, general, operands, inplace.
"""
