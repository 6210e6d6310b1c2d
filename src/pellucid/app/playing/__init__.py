"""What a fit did, as a recording, and the page in the browser that plays it."""

from pellucid.app.playing.controls import controls_of
from pellucid.app.playing.export import export_page
from pellucid.app.playing.given.given_data import GivenData, read_data
from pellucid.app.playing.given.images import image_names, load_image
from pellucid.app.playing.given.sets import load_set, set_names
from pellucid.app.playing.performance import Performance
from pellucid.app.playing.play import Play
from pellucid.app.playing.plays import find_play, play_names
from pellucid.app.playing.recorded_descent import record_descent
from pellucid.app.playing.recorded_fit import record_play
from pellucid.app.playing.recording import Frame, Recording, read_recording

__all__ = [
    "Frame",
    "GivenData",
    "Performance",
    "Play",
    "Recording",
    "controls_of",
    "export_page",
    "find_play",
    "image_names",
    "load_image",
    "load_set",
    "play_names",
    "read_data",
    "read_recording",
    "record_descent",
    "record_play",
    "set_names",
]
