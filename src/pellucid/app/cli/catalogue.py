"""``pellucid catalogue``: what the library covers."""

from __future__ import annotations


def catalogue() -> None:
    """List the topics of the syllabus and the objects that cover them."""
    from rich import box
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

    from pellucid.catalogue import read_catalogue

    title, objects = Column("Title", ratio=2), Column("Objects", ratio=3, overflow="fold")
    columns = (Column("Topic", no_wrap=True), title, objects, "Has", Column("Status", width=14))
    table = Table(*columns, header_style="bold", box=box.SIMPLE_HEAD, expand=True, padding=(0, 1, 0, 0))
    for topic in read_catalogue():
        has = [word for word, part in (("proof", topic.proofs), ("workings", topic.workings)) if part]
        table.add_row(topic.id, topic.title, ",\n".join(topic.names), ",\n".join(has), Text(topic.status))
    Console().print(table)
