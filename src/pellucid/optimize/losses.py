"""The losses of ``pellucid.losses``, importable from here as well."""

from pellucid.losses import *  # noqa: F403  (every loss, under the name users know)
