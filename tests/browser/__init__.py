"""Tests that drive real JupyterLab in headless Chromium."""
