"""``make zoo``: viz on models that were not written for it, each number compared with PyTorch's own hooks; see docs/zoo.md."""
