"""Workings: the document model, its four printers, and show_work."""

from pellucid.show.document import Document, Drawing, Figure, FormulaLine, Sentence, Series, Step, Table
from pellucid.show.showing import show_work

__all__ = ["Document", "Drawing", "Figure", "FormulaLine", "Sentence", "Series", "Step", "Table", "show_work"]
