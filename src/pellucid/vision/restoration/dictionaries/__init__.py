"""Dictionaries: signals as sums of few atoms, atoms learnt from images, images denoised by them."""
