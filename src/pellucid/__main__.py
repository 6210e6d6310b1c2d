"""``python -m pellucid``: the command."""

from pellucid.cli import main

if __name__ == "__main__":
    main()
