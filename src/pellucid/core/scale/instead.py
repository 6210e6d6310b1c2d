"""What to take instead of a method that needs every row in memory: the nearest one that goes over them in passes."""

from __future__ import annotations

INSTEAD = {
    "AdaBoostClassifier": "HistGradientBoostingClassifier",
    "AgglomerativeClustering": "KMeans",
    "BaggingClassifier": "RandomForestClassifier",
    "BaggingRegressor": "RandomForestRegressor",
    "BasisExpansion": "HistGradientBoostingRegressor",
    "BayesClassifier": "GaussianNB",
    "BlendClassifier": "HistGradientBoostingClassifier",
    "BlendRegressor": "HistGradientBoostingRegressor",
    "ClassicalMDS": "PCA",
    "Diana": "KMeans",
    "FastICA": "PCA",
    "FeatureEmbedding": "PCA",
    "FloatingSelector": "Lasso",
    "ID3Classifier": "CategoricalNB",
    "Isomap": "PCA",
    "KMedians": "KMeans",
    "KMedoids": "KMeans",
    "KernelPCA": "PCA",
    "KernelPerceptron": "LogisticRegression",
    "KernelRidge": "Ridge",
    "KernelRidgeCV": "Ridge",
    "LinearSVR": "Ridge",
    "LocallyLinearEmbedding": "PCA",
    "MDS": "PCA",
    "MRMR": "Lasso",
    "MiniBatchKMeans": "KMeans",
    "NearestCentroid": "LinearDiscriminantAnalysis",
    "OptimalTreeClassifier": "DecisionTreeClassifier",
    "Perceptron": "LogisticRegression",
    "PrunedTreeClassifier": "DecisionTreeClassifier",
    "PrunedTreeRegressor": "DecisionTreeRegressor",
    "RankingSVM": "LogisticRegression",
    "RegressionDiscriminant": "LinearDiscriminantAnalysis",
    "SGDClassifier": "LogisticRegression",
    "SVC": "LinearSVC",
    "SVD": "PCA",
    "SVR": "HistGradientBoostingRegressor",
    "SammonMapping": "PCA",
    "SequentialFeatureSelector": "Lasso",
    "SoftKMeans": "GaussianMixture",
    "SpectralClustering": "KMeans",
    "SpectralEmbedding": "PCA",
    "TSNE": "PCA",
}
"""Method -> the nearest that answers the same question and takes rows in blocks."""

CRITERION = "take another criterion than 'absolute_error'"
FOREST = "oob_score and warm_start at False and categorical_features at None"

SETTINGS = {
    "BernoulliNB": "set binarize to a number",
    "DecisionTreeClassifier": "leave splitter at 'best' and categorical_features at None",
    "DecisionTreeRegressor": f"leave splitter at 'best' and categorical_features at None, and {CRITERION}",
    "KNeighborsClassifier": "take a Minkowski metric",
    "KNeighborsRegressor": "take a Minkowski metric",
    "Lars": "leave jitter at None",
    "LassoLars": "leave jitter at None",
    "LinearDiscriminantAnalysis": "set shrinkage to None or a number",
    "LinearSVC": "take the squared hinge, the penalty 'l2' and multi_class='ovr'",
    "LogisticRegression": "leave l1_ratio at 0",
    "MLPClassifier": "leave early_stopping and warm_start at False",
    "MLPRegressor": "leave early_stopping and warm_start at False",
    "MixedNB": "take the densities gaussian, bernoulli and categorical",
    "Mixture": "take the densities gaussian, bernoulli, binomial, categorical or multivariate_gaussian",
    "NMF": "take solver='cd' and a start that is not given",
    "NetworkClassifier": "leave validation_fraction at 0 and warm_start at False",
    "NetworkRegressor": "leave validation_fraction at 0 and warm_start at False",
    "RandomForestClassifier": f"leave {FOREST}",
    "RandomForestRegressor": f"leave {FOREST}, and {CRITERION}",
    "RidgeCV": "leave scoring at None and store_cv_results at False",
}
"""Methods that take rows in blocks with some parameters only -> with which."""


def advice_for(name: str) -> str:
    """Return what to do instead, as the first words of a sentence; empty where nothing comes near.

    Examples
    --------
    >>> advice_for("KernelRidge"), advice_for("LogisticRegression")
    ('Take Ridge', 'For all rows leave l1_ratio at 0')
    """
    if name in SETTINGS:
        return f"For all rows {SETTINGS[name]}"
    return f"Take {INSTEAD[name]}" if name in INSTEAD else ""
