"""One backward pass: recorded step by step, explained, checked, compared. Plain data, no picture."""
