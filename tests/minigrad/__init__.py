"""The tests of minigrad: agreement with PyTorch 2.13, right derivatives, robustness, and the architecture."""
