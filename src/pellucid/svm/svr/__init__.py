"""SVR: regression with a tube in the space of a kernel."""
