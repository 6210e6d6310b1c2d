"""The trusted base: what has to be right for a certificate to mean what it says.

Everything here is NumPy, SciPy, the standard library and files of this folder. The proof of a method recomputes each
claim from the training data in the plainest way there is, without the code that found the answer; where both need the
same mathematics, it is written here a second time. ``python -m pellucid.proofs`` runs it on a saved model.
"""
