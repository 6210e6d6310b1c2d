"""Drawings that objects make of themselves, and the style of all plots. This room knows no other."""
