"""Regions of an image and their groups: graph segmentation, and selective search over what it finds."""
