#!/usr/bin/env python3
"""Makes digits.npz from the copy of the data that scikit-learn ships. Running it again changes nothing.

    python3 -m venv /somewhere/else && /somewhere/else/bin/pip install scikit-learn
    /somewhere/else/bin/python notebooks/data/make_digits.py

scikit-learn is needed for this alone: no lesson and no test imports it. Source and licence: README.md beside this file.
"""

from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

digits = load_digits()
images = digits.images.astype(np.uint8)  # 1797 pictures of 8 × 8, grey values 0 (paper) to 16 (ink)
labels = digits.target.astype(np.uint8)
assert np.array_equal(images, digits.images) and images.shape == (1797, 8, 8) and images.max() == 16
path = Path(__file__).with_name("digits.npz")
np.savez_compressed(path, images=images, labels=labels)
print(f"{path.name}: {len(images)} pictures, {path.stat().st_size} bytes")
