"""Property tests try the same examples every time; set PELLUCID_EXPLORE=1 to search for new ones.

PELLUCID_ULPS=1 changes the last bits of random test data: see tests/ulps.py. Which tests are run: see tests/tiers.py.
"""

import os

import pytest
from hypothesis import settings

from tests.tiers import FIRST, KINDS, PROMISE, SECOND, Tiers
from tests.ulps import change_last_bits

settings.register_profile("repeatable", derandomize=True, deadline=None)
if not os.environ.get("PELLUCID_EXPLORE"):
    settings.load_profile("repeatable")
if os.environ.get("PELLUCID_ULPS"):
    change_last_bits(int(os.environ["PELLUCID_ULPS"]))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what tests/tiers.py asks for."""
    parser.addoption("--tier", choices=(FIRST, SECOND), default="", help="run the tests of this tier only")
    parser.addoption("--times", default="", help="write to this file what each dear test took")


def pytest_configure(config: pytest.Config) -> None:
    """Register the plugin and the marks by which a test is known to be what every method must have."""
    for kind in (*KINDS, PROMISE):
        config.addinivalue_line("markers", f"{kind}: see tests/tiers.py")
    config.pluginmanager.register(Tiers(config.getoption("--tier"), config.getoption("--times")))
