"""What is drawn and where: views, folding, DOT, layout, SVG."""
