"""Change one word: programs written for scikit-learn run with ``sklearn`` replaced by ``pellucid``, and answer alike.

Each program is a habit of scikit-learn's gallery in a few lines. It leaves numbers in ``answer``, which are compared
where both libraries promise the same, and fitted models of ours in ``models``.
"""

from __future__ import annotations

import sys

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

PROGRAMS = {
    "grid search over a pipeline": """
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
pipeline = make_pipeline(StandardScaler(), LogisticRegression(tol=1e-6))
search = GridSearchCV(pipeline, {"logisticregression__C": [0.1, 1.0]}, cv=3).fit(X_train, y_train)
answer = [search.best_score_, search.score(X_test, y_test)]
models = [search.best_estimator_[-1]]
""",
    "columns of a data frame": """
import pandas as pd
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

table = pd.DataFrame({"size": [1.0, 2.0, None, 4.0, 6.0, 5.0], "color": list("rgbrgb"), "price": [1, 3, 2, 4, 7, 6.0]})
numbers = Pipeline([("impute", SimpleImputer()), ("scale", StandardScaler())])
columns = ColumnTransformer(
    [
        ("numbers", numbers, ["size"]),
        ("kinds", OneHotEncoder(sparse_output=False), make_column_selector(dtype_exclude="number")),
    ]
)
model = Pipeline([("columns", columns), ("ridge", Ridge())]).set_output(transform="pandas")
answer = model.fit(table[["size", "color"]], table["price"]).predict(table[["size", "color"]])
models = [model[-1]]
""",
    "loops over folds": """
import numpy as np
from sklearn import datasets
from sklearn.base import clone
from sklearn.metrics import accuracy_score
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

iris = datasets.load_iris()
models = [KNeighborsClassifier(3)]
answer = [cross_val_score(models[0], iris.data, iris.target, cv=StratifiedKFold(4)).mean()]
for train, test in KFold(3, shuffle=True, random_state=0).split(iris.data):
    fold = clone(models[0]).fit(iris.data[train], iris.target[train])
    answer.append(accuracy_score(iris.target[test], fold.predict(iris.data[test])))
answer.append(np.mean(cross_val_predict(models[0], iris.data, iris.target) == iris.target))
models = [fold]
""",
    "words and naive Bayes": """
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline, make_union

texts = ["good fun good", "bad dull", "good plot", "dull and bad bad", "fun", "bad plot"]
model = make_pipeline(make_union(CountVectorizer(), TfidfVectorizer()), MultinomialNB()).fit(texts, [1, 0, 1, 0, 1, 0])
answer = model.predict_proba(["good", "bad fun", "plot"])
models = [model[-1]]
""",
    "moons, blobs and clusters": """
from sklearn import cluster, datasets, metrics
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.utils import shuffle

X, truth = datasets.make_blobs(120, centers=3, cluster_std=0.4, random_state=1)
X, truth = shuffle(X, truth, random_state=0)
models = [KMeans(3, n_init=5, random_state=0).fit(X), AgglomerativeClustering(3).fit(X)]
moons, _ = datasets.make_moons(60, noise=0.02, random_state=0)
models.append(cluster.AgglomerativeClustering(2, linkage="single").fit(moons))
answer = [metrics.adjusted_rand_score(truth, model.labels_) for model in models[:2]]
answer += [metrics.silhouette_score(X, models[0].labels_), metrics.cluster.v_measure_score(truth, models[1].labels_)]
""",
    "confusion matrix": """
import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import ConfusionMatrixDisplay, classification_report, confusion_matrix

X, y = load_wine(return_X_y=True, as_frame=True)
models = [LinearDiscriminantAnalysis().fit(X, y)]
display = ConfusionMatrixDisplay.from_estimator(models[0], X, y)
assert "precision" in classification_report(y, models[0].predict(X))
answer = display.confusion_matrix
plt.close("all")
""",
    "ROC and precision-recall curves": """
import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import DetCurveDisplay, PrecisionRecallDisplay, RocCurveDisplay, auc, roc_curve

X, y = make_classification(200, random_state=0)
models = [LogisticRegression(tol=1e-8).fit(X, y)]
curve = RocCurveDisplay.from_estimator(models[0], X, y)
both = PrecisionRecallDisplay.from_estimator(models[0], X, y, ax=curve.ax_)
DetCurveDisplay.from_estimator(models[0], X, y)
false, true, _ = roc_curve(y, models[0].decision_function(X))
answer = [curve.roc_auc, both.average_precision, auc(false, true)]
plt.close("all")
""",
    "learning and validation curves": """
import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import LearningCurveDisplay, ShuffleSplit, ValidationCurveDisplay, learning_curve
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

X, y = load_digits(return_X_y=True)
X, y = X[:300], y[:300]
sizes, train, test = learning_curve(GaussianNB(), X, y, cv=ShuffleSplit(3, random_state=0), train_sizes=[0.5, 1.0])
LearningCurveDisplay.from_estimator(GaussianNB(), X, y, cv=3, train_sizes=[0.6, 1.0])
ValidationCurveDisplay.from_estimator(KNeighborsClassifier(), X, y, param_name="n_neighbors", param_range=[1, 5], cv=3)
answer = [*sizes, *train.mean(1), *test.mean(1)]
models = [GaussianNB().fit(X, y)]
plt.close("all")
""",
    "partial dependence and permutation importance": """
import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.inspection import DecisionBoundaryDisplay, PartialDependenceDisplay, partial_dependence
from sklearn.inspection import permutation_importance
from sklearn.linear_model import Ridge

X, y = load_diabetes(return_X_y=True, as_frame=True)
models = [Ridge(alpha=0.1).fit(X, y)]
found = permutation_importance(models[0], X, y, n_repeats=3, random_state=0)
PartialDependenceDisplay.from_estimator(models[0], X, ["bmi", ("bp", "s5")], grid_resolution=5)
answer = [*found.importances_mean, *partial_dependence(models[0], X, ["bmi"], grid_resolution=5)["average"][0]]
plt.close("all")
""",
    "partial dependence of many trees": """
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.inspection import PartialDependenceDisplay, partial_dependence

X, y = make_friedman1(2000, random_state=0)
models = [HistGradientBoostingRegressor(max_iter=20).fit(X, y), HistGradientBoostingClassifier(max_iter=5)]
models[1].fit(X, np.digitize(y, [12.0, 16.0]))
answer = [*partial_dependence(models[0], X, [0], grid_resolution=5, method="recursion")["average"].ravel()]
answer += [*partial_dependence(models[1], X, [0, 3], grid_resolution=5)["average"].ravel()]
PartialDependenceDisplay.from_estimator(models[0], X, [(0, 3)], grid_resolution=5)
models.append(RandomForestRegressor(5, bootstrap=False, max_depth=3, max_features=None, random_state=0).fit(X, y))
answer += [*partial_dependence(models[2], X, [0], grid_resolution=5)["average"].ravel()]
plt.close("all")
""",
    "iterations that somebody watches": """
from sklearn.callback import ScoringMonitor
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = make_classification(200, random_state=0)
monitor = ScoringMonitor(scoring="accuracy")
model = make_pipeline(StandardScaler(), LogisticRegression(solver="lbfgs", tol=1e-6).set_callbacks(monitor)).fit(X, y)
log = monitor.get_logs().data_as_pandas
seen = log.query("estimator_name == 'LogisticRegression' and task_name == 'lbfgs-iter'")
answer = [seen["accuracy"].dropna().iloc[-1]]
models = [model[-1]]
""",
    "decision boundaries": """
import matplotlib.pyplot as plt
from sklearn.datasets import make_circles
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.svm import SVC

X, y = make_circles(60, factor=0.3, noise=0.05, random_state=0)
models = [SVC(gamma=2.0).fit(X, y)]
display = DecisionBoundaryDisplay.from_estimator(models[0], X, response_method="predict", grid_resolution=8)
answer = display.response
plt.close("all")
""",
    "calibration": """
import matplotlib.pyplot as plt
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay, calibration_curve
from sklearn.datasets import make_classification
from sklearn.metrics import brier_score_loss
from sklearn.naive_bayes import GaussianNB

X, y = make_classification(300, random_state=0)
model = CalibratedClassifierCV(GaussianNB(), method="sigmoid", cv=3).fit(X, y)
CalibrationDisplay.from_estimator(model, X, y, n_bins=5)
probabilities = model.predict_proba(X)[:, 1]
answer = [brier_score_loss(y, probabilities), *calibration_curve(y, probabilities, n_bins=4)[0]]
models = [model.calibrated_classifiers_[0].estimator]
plt.close("all")
""",
    "trees, drawn and printed": """
import matplotlib.pyplot as plt
from sklearn import tree
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier, export_text, plot_tree

iris = load_iris()
models = [DecisionTreeClassifier(max_depth=2, random_state=0).fit(iris.data, iris.target)]
plot_tree(models[0], feature_names=iris.feature_names)
assert export_text(models[0]) and tree.export_graphviz(models[0])
answer = [models[0].score(iris.data, iris.target), models[0].get_n_leaves(), models[0].get_depth()]
plt.close("all")
""",
    "a random search": """
from scipy.stats import loguniform
from sklearn.datasets import load_wine
from sklearn.experimental import enable_halving_search_cv
from sklearn.model_selection import HalvingGridSearchCV, ParameterGrid, RandomizedSearchCV, RepeatedStratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import LinearSVC

X, y = load_wine(return_X_y=True)
model = Pipeline([("scale", MinMaxScaler()), ("svm", LinearSVC(dual=False, tol=1e-7))])
folds = RepeatedStratifiedKFold(n_splits=2, n_repeats=1, random_state=0)
search = RandomizedSearchCV(model, {"svm__C": loguniform(0.1, 10)}, n_iter=3, cv=folds, random_state=0).fit(X, y)
halving = HalvingGridSearchCV(model, {"svm__C": [0.1, 1.0]}, cv=folds, random_state=0).fit(X, y)
answer = [search.best_params_["svm__C"], search.best_score_, len(ParameterGrid({"a": [1, 2]}))]
models = [search.best_estimator_["svm"], halving.best_estimator_["svm"]]
""",
    "polynomials and splines": """
import numpy as np
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics import mean_squared_error, r2_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer

x = np.linspace(0, 1, 40)[:, None]
y = np.cos(1.5 * np.pi * x[:, 0])
cubic = make_pipeline(PolynomialFeatures(3, include_bias=False), LinearRegression()).fit(x, y)
spline = make_pipeline(SplineTransformer(n_knots=4), Ridge(1e-3)).fit(x, y)
answer = [mean_squared_error(y, cubic.predict(x)), r2_score(y, spline.predict(x))]
models = [cubic[-1], spline[-1]]
""",
    "components and a classifier": """
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics.pairwise import pairwise_distances, rbf_kernel
from sklearn.pipeline import Pipeline, FeatureUnion
from sklearn.preprocessing import Normalizer, FunctionTransformer

X, y = load_digits(return_X_y=True)
X, y = X[:400], y[:400]
both = FeatureUnion([("pca", PCA(5)), ("all", FunctionTransformer(lambda X: X[:, :2]))])
model = Pipeline([("unit", Normalizer()), ("both", both), ("ridge", RidgeClassifier())]).fit(X, y)
answer = [model.score(X, y), rbf_kernel(X[:5]).sum(), pairwise_distances(X[:5]).max()]
models = [model[-1], model["both"].transformer_list[0][1]]
""",
    "many labels, each by a model": """
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import hamming_loss
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier

X, Y = make_multilabel_classification(80, n_classes=3, random_state=0)
line = LogisticRegression(tol=1e-6, max_iter=1000)
kinds = [MultiOutputClassifier(line), ClassifierChain(line, order=[0, 1, 2]), OneVsRestClassifier(line)]
answer = [hamming_loss(Y, kind.fit(X, Y).predict(X)) for kind in kinds]
models = [kinds[0].estimators_[0], kinds[1].estimators_[0], kinds[2].estimators_[0]]
""",
    "an estimator of one's own": """
import numpy as np
import sklearn
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted, validate_data

class Centered(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        self.mean_ = validate_data(self, X).mean(axis=0)
        return self

    def transform(self, X):
        check_is_fitted(self)
        return validate_data(self, X, reset=False) - self.mean_

try:
    Centered().transform([[1.0]])
except NotFittedError:
    answer = [1.0]
with sklearn.config_context(assume_finite=True):
    model = sklearn.clone(make_pipeline(Centered(), LinearRegression())).fit([[0.0], [1.0], [2.0]], [1.0, 2.0, 3.0])
answer += [*model[-1].coef_, model[-1].intercept_]
models = [model[-1]]
""",
    "scores of columns": """
from sklearn.datasets import load_iris
from sklearn.feature_selection import chi2, f_classif, mutual_info_classif
from sklearn.manifold import MDS, trustworthiness
from sklearn.svm import SVC, l1_min_c

X, y = load_iris(return_X_y=True)
answer = [*chi2(X, y)[0], *f_classif(X, y)[0], l1_min_c(X, y), trustworthiness(X, X[:, :2])]
models = [SVC(kernel="linear").fit(X, y)]
""",
    "kernels of a process in a kernel machine": """
import numpy as np
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

x = np.linspace(0, 5, 30)[:, None]
machine = KernelRidge(alpha=0.1, kernel="precomputed").fit(RBF(1.5)(x), np.sin(x[:, 0]))
same = KernelRidge(alpha=0.1, kernel=RBF()).set_params(kernel__length_scale=1.5).fit(x, np.sin(x[:, 0]))
approximate = make_pipeline(Nystroem(gamma=0.5, n_components=10, random_state=0), Ridge(0.1)).fit(x, np.sin(x[:, 0]))
answer = [*machine.predict(RBF(1.5)(x[:3], x)), *same.predict(x[:3]), *approximate.predict(x[:3])]
models = [machine, same, approximate[-1]]
""",
}


def test_constants_of_a_module_are_passed_on_and_what_it_imports_is_not():
    run("from pellucid.utils.metadata_routing import UNCHANGED, UNUSED, WARN")
    assert run("from pellucid.utils import metadata_routing as ours")["ours"].WARN == "$WARN$"
    with pytest.raises(ImportError):
        run("from pellucid.utils.validation import numbers")


def run(program):
    found = {"__name__": "program"}
    exec(compile(program, "program", "exec"), found)
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_of_scikit_learn_runs_with_one_word_changed(name):
    program = PROGRAMS[name]
    assert "sklearn" in program
    ours, theirs = run(program.replace("sklearn", "pellucid")), run(program)
    np.testing.assert_allclose(
        np.asarray(ours["answer"], dtype=float), np.asarray(theirs["answer"], dtype=float), rtol=1e-3, atol=2e-3
    )
    assert ours["models"]
    for model in ours["models"]:
        assert type(model).__module__.startswith("pellucid."), model
        assert model.certificate_.holds


@pytest.mark.parametrize(
    ("package", "name"),
    [
        ("ensemble", "GradientBoostingClassifier"),
        ("ensemble", "VotingClassifier"),
        ("cluster", "HDBSCAN"),
        ("cluster", "DBSCAN"),
        ("gaussian_process", "GaussianProcessRegressor"),
        ("covariance", "EllipticEnvelope"),
        ("dummy", "DummyClassifier"),
        ("isotonic", "IsotonicRegression"),
        ("semi_supervised", "LabelSpreading"),
        ("decomposition", "SparsePCA"),
    ],
)
def test_what_learns_an_answer_and_is_not_ours_says_where_to_find_it(package, name):
    with pytest.raises(ImportError) as refused:
        run(f"from pellucid.{package} import {name}")
    where = f"from sklearn.{package} import {name}"
    assert str(refused.value) == f"pellucid.{package} has no {name}; scikit-learn's works beside ours: {where}"


def test_the_changed_programs_import_no_other_copy_of_scikit_learn():
    run("from pellucid.metrics import accuracy_score; import pellucid.metrics")
    assert sys.modules["pellucid.metrics"].accuracy_score is sys.modules["sklearn.metrics"].accuracy_score
