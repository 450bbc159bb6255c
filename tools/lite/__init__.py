"""The lessons in a browser, with nothing installed: JupyterLite on a static host (`make lite`)."""
