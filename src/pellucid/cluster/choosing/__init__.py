"""How many clusters: four criteria, one recommendation, and how stable it is."""
