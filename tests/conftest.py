"""Property tests try the same examples every time; set PELLUCID_EXPLORE=1 to search for new ones."""

import os

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
if not os.environ.get("PELLUCID_EXPLORE"):
    settings.load_profile("repeatable")
