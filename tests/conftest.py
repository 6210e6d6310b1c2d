"""Property tests try the same examples every time; set PELLUCID_EXPLORE=1 to search for new ones.

PELLUCID_ULPS=1 changes the last bits of random test data: see tests/ulps.py.
"""

import os

from hypothesis import settings

from tests.ulps import change_last_bits

settings.register_profile("repeatable", derandomize=True, deadline=None)
if not os.environ.get("PELLUCID_EXPLORE"):
    settings.load_profile("repeatable")
if os.environ.get("PELLUCID_ULPS"):
    change_last_bits(int(os.environ["PELLUCID_ULPS"]))
