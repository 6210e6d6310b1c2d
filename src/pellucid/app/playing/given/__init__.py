"""What a play plays on: sets by name, tables, points, formulas and images."""
