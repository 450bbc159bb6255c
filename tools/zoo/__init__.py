"""``make zoo``: viz on models that nobody wrote for it, each number compared with PyTorch's own hooks; see docs/zoo.md."""
