"""How far an input may change before a network changes its mind: proved from below, attacked from above."""
