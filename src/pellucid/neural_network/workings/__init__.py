"""Networks by hand: graphs, layers, losses, training steps, as documents of the workings."""
