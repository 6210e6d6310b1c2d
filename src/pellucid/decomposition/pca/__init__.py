"""Principal components: the directions in which rows spread most."""
