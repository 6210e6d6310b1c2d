"""How sure a network is."""
