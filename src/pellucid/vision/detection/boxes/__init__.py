"""Boxes: how they overlap, how one is written as a change of another, which are matched and which are kept."""
