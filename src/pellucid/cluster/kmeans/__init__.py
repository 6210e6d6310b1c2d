"""k-means: centers that are the means of the rows nearest to them."""
