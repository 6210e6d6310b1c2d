"""Non-local means: pixels are averaged whose surroundings look alike."""
