"""Methods that make passes, on workers that are processes of their own: the bits of threads here, and proved there."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("distributed", reason="the extra 'scale' is not installed")

SCRIPT = """
    import sys, warnings
    import dask, dask.array as da, numpy as np
    from distributed import Client, LocalCluster
    import pellucid
    from pellucid.decomposition import NMF, AlternatingLeastSquares
    from pellucid.ensemble import RandomForestClassifier
    from pellucid.linear_model import RidgeCV
    from pellucid.naive_bayes import MixedNB
    from pellucid.neighbors import KNeighborsClassifier, KNeighborsRegressor
    from pellucid.neural_network import MLPClassifier
    from pellucid.tree import DecisionTreeRegressor

    rng = np.random.default_rng(0)
    X = rng.gamma(1.0, 1.0, (900, 5))
    y = X @ np.arange(5.0) + rng.normal(size=900)
    rows, target, labels = (da.from_array(a, chunks=(150, *a.shape[1:])) for a in (X, y, np.where(y > 9.0, "a", "b")))

    def densities(model):
        return np.array([[one.mean, one.variance] for column in model.densities_ for one in column])

    METHODS = (
        (RidgeCV(), target, lambda model: model.coef_),
        (MixedNB(), labels, densities),
        (NMF(2, random_state=0), None, lambda model: model.components_),
        (AlternatingLeastSquares(2, random_state=0), None, lambda model: model.components_),
        (KNeighborsRegressor(), target, lambda model: model.predict(X[:60])),
        (KNeighborsClassifier(), labels, lambda model: model.predict_proba(rows[:200]).compute()),
        (DecisionTreeRegressor(), target, lambda model: model.trees_.threshold),
        (RandomForestClassifier(3, random_state=0), labels, lambda model: model.trees_.threshold),
        (MLPClassifier((4,), random_state=0, max_iter=4), labels, lambda model: model.coefs_[0]),
    )

    def found():
        for method, beside, read in METHODS:
            model = type(method)(**method.get_params()).fit(rows, beside)
            assert not pellucid.verify(model, rows, beside).failed, method
            if hasattr(model, "predict"):
                model.score(rows, beside)
            yield read(model).tobytes()

    if __name__ == "__main__":
        warnings.simplefilter("ignore")
        expected = list(found())
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
            for bits, (method, *_), again in zip(expected, METHODS, found()):
                print(type(method).__name__, "same bits" if bits == again else "other bits")
                sys.stdout.flush()
"""
NAMES = (
    "RidgeCV",
    "MixedNB",
    "NMF",
    "AlternatingLeastSquares",
    "KNeighborsRegressor",
    "KNeighborsClassifier",
    "DecisionTreeRegressor",
    "RandomForestClassifier",
    "MLPClassifier",
)


def test_workers_in_processes_find_the_bits_of_threads(tmp_path):
    script = tmp_path / "workers.py"
    script.write_text(textwrap.dedent(SCRIPT))
    command = [sys.executable, script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False, cwd=tmp_path)
    assert done.stdout.split("\n")[:-1] == [f"{name} same bits" for name in NAMES], done.stderr[-3000:]
