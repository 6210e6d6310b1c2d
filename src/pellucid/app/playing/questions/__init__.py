"""Questions to a fitted model: what if a number were another, what would change an answer, which row counts most."""
