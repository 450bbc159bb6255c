"""The live graph: what its nodes and tensors contain, their names, and how the program made them. Runs nothing."""
