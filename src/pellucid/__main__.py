"""``python -m pellucid``: the command."""

from pellucid.app.cli import main

if __name__ == "__main__":
    main()
