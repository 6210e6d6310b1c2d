"""A method is added by its own files alone: laid by the tool, filled in, and everything else finds it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tools.new_method import lay

CHECKOUT = Path(__file__).parents[1]
SOLVER = """
    import numpy as np

    X, weight = data.X.astype(np.float64), data.weights
    gram = X.T @ (weight[:, None] * X) + alpha * np.eye(X.shape[1])
    return Fit({"coef_": np.linalg.solve(gram, X.T @ (weight * data.y)).astype(data.X.dtype)})
"""
WORKINGS = """
    from sympy import eye

    w = (data.X.T * data.X + estimator.alpha * eye(data.n_features)).inv() * data.X.T * data.y
    return Document("Shrunken", data.opening(), (step("Solve", sentence("One equation.")),), {"coef_": list(w)})
"""
USE = """
import sys, warnings
import numpy as np
import pellucid
from pathlib import Path
import pellucid.proofs.index
pellucid.__path__.append(sys.argv[1])  # as if the files stood in the package
pellucid.proofs.__path__.append(sys.argv[1] + "/proofs")
from pellucid.temporary import ShrunkenLine
from pellucid.catalogue import read_catalogue
from pellucid.app.cli.application import run
from pellucid.core.card_index import entries
from sklearn.utils.estimator_checks import check_estimator

rng = np.random.default_rng(0)
X = rng.standard_normal((30, 3)); y = X @ [1.0, -2.0, 3.0] + 0.1 * rng.standard_normal(30)
try:
    ShrunkenLine(alpha=-1.0).fit(X, y)
except ValueError as error:
    print("checked:", error)
check_estimator(ShrunkenLine())
model = ShrunkenLine().fit(X, y)
pellucid.save(model, Path(sys.argv[2]) / "model.safetensors")
again = pellucid.load(Path(sys.argv[2]) / "model.safetensors")
print("saved and loaded:", np.array_equal(again.predict(X), model.predict(X)))
print("verified:", pellucid.verify(again, X, y).holds)
again.coef_[0] *= 1.001
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    print("broken:", pellucid.verify(again, X, y).holds)
print("shown:", pellucid.show_work(ShrunkenLine(1), [[1], [2]], [1, 2]).answer["coef_"])
print("catalogued:", "ShrunkenLine" in next(t for t in read_catalogue() if t.id == "LIN-2").names)
table = Path(sys.argv[2]) / "two.csv"; table.write_text("x,y\\n1,1\\n2,2\\n")
print("command:", run(["show-work", str(table), "--target", "y", "--method", entries()["ShrunkenLine"].command_name]))
"""


def fill(path, body):
    """Put a body in the place of the line that says it is missing, and of what follows."""
    text = path.read_text()
    start = text.index("    raise NotImplementedError")
    path.write_text(text[:start].rstrip() + "\n" + body)


@pytest.fixture
def laid(tmp_path):
    lay("temporary/shrunken_line", "ShrunkenLine", root=tmp_path)
    return tmp_path / "src" / "pellucid"


def test_a_small_method_is_checked_saved_verified_shown_and_catalogued(laid, tmp_path):
    fill(laid / "temporary" / "shrunken_line_solvers.py", SOLVER)
    fill(laid / "temporary" / "shrunken_line_workings.py", WORKINGS)
    done = subprocess.run(
        [sys.executable, "-c", USE, laid, tmp_path], cwd=CHECKOUT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    printed = done.stdout
    assert "checked: alpha must be at least 0, got -1.0." in printed
    assert "saved and loaded: True" in printed
    assert "verified: True" in printed
    assert "broken: False" in printed
    assert "shown: [5/6]" in printed
    assert "catalogued: True" in printed
    assert "command: 0" in printed


def test_a_method_that_is_not_filled_in_says_so(laid, tmp_path):
    use = "import sys, pellucid, pellucid.proofs; pellucid.__path__.append(sys.argv[1])\n"
    use += "pellucid.proofs.__path__.append(sys.argv[1] + '/proofs')\n"
    use += "from pellucid.temporary import ShrunkenLine; ShrunkenLine().fit([[1.0], [2.0]], [1.0, 2.0])"
    done = subprocess.run([sys.executable, "-c", use, laid], capture_output=True, text=True, check=False)
    assert "NotImplementedError: Compute coef_ here" in done.stderr


def test_files_that_are_there_are_not_touched(tmp_path):
    lay("temporary/one", root=tmp_path)
    lay("temporary/two_words", root=tmp_path)
    init = (tmp_path / "src/pellucid/temporary/__init__.py").read_text()
    assert '__all__ = ["One", "TwoWords"]' in init
    with pytest.raises(SystemExit, match="NAME must be new"):
        lay("temporary/one", root=tmp_path)
    with pytest.raises(SystemExit, match="NAME must be family/method"):
        lay("Temporary", root=tmp_path)


def test_what_is_laid_passes_the_checks_of_the_project_as_it_is(tmp_path):
    shutil.copytree(CHECKOUT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(CHECKOUT / "pyproject.toml", tmp_path)
    names = {"temporary/one": "One", "temporary/long_name_of_a_method": "LongNameOfAMethodClassifier"}
    laid = [str(path) for name in names for path in lay(name, names[name], root=tmp_path)]
    sources = [path for path in laid if "/src/" in path]
    for command in (["ruff", "format", "--check", *laid], ["ruff", "check", *laid], ["mypy", *sources]):
        done = subprocess.run(
            [sys.executable, "-m", *command], capture_output=True, text=True, check=False, cwd=tmp_path
        )
        assert done.returncode == 0, done.stdout
