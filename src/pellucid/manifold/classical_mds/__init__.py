"""Classical multidimensional scaling: a map from distances, in closed form."""
