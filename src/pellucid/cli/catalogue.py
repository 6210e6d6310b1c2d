"""``pellucid catalogue``: what the library covers."""

from __future__ import annotations


def catalogue() -> None:
    """List the topics of the syllabus and the objects that cover them."""
    from rich.console import Console
    from rich.table import Table

    from pellucid.catalogue import read_catalogue

    table = Table("Topic", "Title", "Objects", "Proof", "Workings", "Status", header_style="bold")
    for topic in read_catalogue():
        marks = ("yes" if part else "-" for part in (topic.proofs, topic.workings))
        table.add_row(topic.id, topic.title, ", ".join(topic.names), *marks, topic.status)
    Console().print(table)
