"""A race down Rosenbrock's valley
===============================

Races five methods down Rosenbrock's valley, prints the table and saves the picture.
"""

import matplotlib

matplotlib.use("Agg")

from pellucid.optimize import Formula, race

valley = Formula("(1 - x)**2 + 100*(y - x**2)**2")
outcome = race(valley, [-1.2, 1.0])
print(outcome)
outcome.plot().savefig("rosenbrock_race.png", dpi=150)
print("rosenbrock_race.png")
