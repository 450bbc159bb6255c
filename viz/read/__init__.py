"""The live graph: what its nodes and tensors say, what they are called, what the program did to make them. Runs nothing."""
