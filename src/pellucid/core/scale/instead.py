"""What to take instead of a method that needs every row in memory: the nearest one that goes over them in passes."""

from __future__ import annotations

from pellucid.core.cards import find_card

INSTEAD = {
    "AdaBoostClassifier": ("HistGradientBoostingClassifier", "LogisticRegression"),
    "AgglomerativeClustering": ("KMeans",),
    "AlternatingLeastSquares": ("PCA",),
    "BaggingClassifier": ("HistGradientBoostingClassifier", "LogisticRegression"),
    "BaggingRegressor": ("HistGradientBoostingRegressor", "Ridge"),
    "BasisExpansion": ("HistGradientBoostingRegressor", "LinearRegression"),
    "BayesClassifier": ("GaussianNB",),
    "BlendClassifier": ("HistGradientBoostingClassifier", "LogisticRegression"),
    "BlendRegressor": ("HistGradientBoostingRegressor", "Ridge"),
    "ClassicalMDS": ("PCA",),
    "DecisionTreeClassifier": ("HistGradientBoostingClassifier", "LogisticRegression"),
    "DecisionTreeRegressor": ("HistGradientBoostingRegressor", "Ridge"),
    "Diana": ("KMeans",),
    "FastICA": ("PCA",),
    "FeatureEmbedding": ("PCA",),
    "FloatingSelector": ("Lasso",),
    "ID3Classifier": ("CategoricalNB",),
    "Isomap": ("PCA",),
    "KMedians": ("KMeans",),
    "KMedoids": ("KMeans",),
    "KNeighborsClassifier": ("HistGradientBoostingClassifier", "LogisticRegression"),
    "KNeighborsRegressor": ("HistGradientBoostingRegressor", "Ridge"),
    "KernelPCA": ("PCA",),
    "KernelPerceptron": ("LogisticRegression",),
    "KernelRidge": ("Ridge",),
    "KernelRidgeCV": ("RidgeCV", "Ridge"),
    "LinearSVR": ("Ridge",),
    "LocallyLinearEmbedding": ("PCA",),
    "MDS": ("PCA",),
    "MLPClassifier": ("HistGradientBoostingClassifier", "LogisticRegression"),
    "MLPRegressor": ("HistGradientBoostingRegressor", "Ridge"),
    "MRMR": ("Lasso",),
    "MiniBatchKMeans": ("KMeans",),
    "MixedNB": ("GaussianNB",),
    "Mixture": ("GaussianMixture",),
    "NMF": ("PCA",),
    "NearestCentroid": ("LinearDiscriminantAnalysis",),
    "NetworkClassifier": ("HistGradientBoostingClassifier", "LogisticRegression"),
    "NetworkRegressor": ("HistGradientBoostingRegressor", "Ridge"),
    "OptimalTreeClassifier": ("HistGradientBoostingClassifier", "LogisticRegression"),
    "Perceptron": ("LogisticRegression",),
    "PrunedTreeClassifier": ("HistGradientBoostingClassifier", "LogisticRegression"),
    "PrunedTreeRegressor": ("HistGradientBoostingRegressor", "Ridge"),
    "RandomForestClassifier": ("HistGradientBoostingClassifier", "LogisticRegression"),
    "RandomForestRegressor": ("HistGradientBoostingRegressor", "Ridge"),
    "RankingSVM": ("LogisticRegression",),
    "RegressionDiscriminant": ("LinearDiscriminantAnalysis",),
    "RidgeCV": ("Ridge",),
    "SGDClassifier": ("LogisticRegression",),
    "SVC": ("LinearSVC", "LogisticRegression"),
    "SVD": ("PCA",),
    "SVR": ("HistGradientBoostingRegressor", "Ridge"),
    "SammonMapping": ("PCA",),
    "SequentialFeatureSelector": ("Lasso",),
    "SoftKMeans": ("GaussianMixture",),
    "SpectralClustering": ("KMeans",),
    "SpectralEmbedding": ("PCA",),
    "TSNE": ("PCA",),
    "TruncatedSVD": ("PCA",),
}
"""Method -> those that answer the same question, the nearest first; the first that takes rows in blocks is named."""

SETTINGS = {
    "BernoulliNB": "set binarize to a number",
    "Lars": "leave jitter at None",
    "LassoLars": "leave jitter at None",
    "LinearDiscriminantAnalysis": "set shrinkage to None or a number",
    "LinearSVC": "take the squared hinge, the penalty 'l2' and multi_class='ovr'",
    "LogisticRegression": "leave l1_ratio at 0",
}
"""Methods that take rows in blocks with some parameters only -> with which."""


def takes_blocks(name: str) -> bool:
    """Return whether a method takes rows in blocks as it is by default."""
    card = find_card(name)
    return card is not None and bool(card.rules_for(card.estimator()).blocks)


def advice_for(name: str) -> str:
    """Return what to do instead, as the first words of a sentence; empty where nothing comes near.

    Examples
    --------
    >>> advice_for("KernelRidge"), advice_for("LogisticRegression")
    ('Take Ridge', 'For all rows leave l1_ratio at 0')
    """
    if name in SETTINGS:
        return f"For all rows {SETTINGS[name]}"
    return next((f"Take {other}" for other in INSTEAD.get(name, ()) if takes_blocks(other)), "")
