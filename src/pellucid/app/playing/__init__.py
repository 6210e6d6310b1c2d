"""What a fit did, as a recording, and the page in the browser that plays it."""

from pellucid.app.playing.controls import controls_of
from pellucid.app.playing.export import export_page
from pellucid.app.playing.recorded_fit import record_descent, record_play
from pellucid.app.playing.recording import Frame, Recording, read_recording
from pellucid.app.playing.sets import load_set, set_names

__all__ = [
    "Frame",
    "Recording",
    "controls_of",
    "export_page",
    "load_set",
    "read_recording",
    "record_descent",
    "record_play",
    "set_names",
]
