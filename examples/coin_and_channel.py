"""A coin and a noisy channel
==========================

Estimates a coin by hand and by program, and finds how much a noisy channel can carry.
"""

import pellucid
from pellucid.probability import Bernoulli, Beta, channel_capacity

tosses = [1, 1, 0, 1]
coin = Bernoulli.fit(tosses, prior=Beta(2, 2))
print(coin, pellucid.verify(coin, tosses, prior=Beta(2, 2)).holds)
print(pellucid.show_work(Bernoulli, tosses, Beta(2, 2)).answer)

noisy = channel_capacity([[0.9, 0.1], [0.1, 0.9]])
print(f"a channel that flips every tenth bit carries {noisy.capacity:.4f} bits per use")
print(noisy.certificate)
