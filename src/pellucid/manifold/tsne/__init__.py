"""Neighbor embedding (t-SNE): a map on which near rows stay near."""
