"""Fits that can be played: what happened, as a recording, and the page in the browser that shows it."""
