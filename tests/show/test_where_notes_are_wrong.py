"""Where lecture notes are wrong the workings have the right form, and say so beside the formula."""

from __future__ import annotations

import pytest

from pellucid.cluster import KMeans
from pellucid.decomposition import SVD
from pellucid.linear_model import Perceptron
from pellucid.losses import LogisticLoss
from pellucid.optimize import Adam
from pellucid.show import show_work
from pellucid.svm import SVC, SVR
from pellucid.tree import DecisionTreeClassifier, ID3Classifier

X, Y = [[0, 1], [1, 1], [2, 0], [3, 2]], [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("make", "remark"),
    [
        (lambda: show_work(LogisticLoss(), [0, 1]), "at m = 0 it is log 2, about 0.693"),
        (lambda: show_work(Adam(), "x**2", [1], steps=1), "The safeguard stands beside the root"),
        (lambda: show_work(Perceptron(shuffle=False), X, Y), "never starts"),
        (lambda: show_work("dropout", [2, 4], p=0.5), "probabilities to keep one"),
        (lambda: show_work("ridge error", [[1], [2]], [3]), "Some notes carry a factor d"),
        (lambda: show_work(SVD(), [[1, 2], [3, 4]]), "bounds the square"),
        (lambda: show_work(SVR(), X, [1, 2, 3, 5]), "no target stands beside them"),
        (lambda: show_work(SVD(), [[1, 2], [2, 1]]), "absolute values of its own eigenvalues"),
        (lambda: show_work(KMeans(2), X), "center less row"),
        (lambda: show_work(SVC(), X, Y), "minimized over w and b"),
        (lambda: show_work("dual function", "x**2", ["1 - x"]), "minimized over x, not maximized"),
        (lambda: show_work(ID3Classifier(), X, Y), "1 less the largest share"),
        (lambda: show_work(DecisionTreeClassifier(criterion="error"), X, Y), "1 less the largest share"),
    ],
)
def test_the_remark_stands_where_the_formula_does(make, remark):
    assert remark in " ".join(make().text().replace("│", " ").split())


def test_singular_values_of_a_symmetric_matrix_are_absolute_values():
    # the eigenvalues of [[1, 2], [2, 1]] are 3 and -1
    assert show_work(SVD(), [[1, 2], [2, 1]]).answer["singular_values_"] == [3, 1]
