"""Our estimators inside pipelines that skl2onnx converts."""

from __future__ import annotations

import numpy as np
import pytest
from skl2onnx import convert_sklearn
from skl2onnx.common.data_types import DoubleTensorType, StringTensorType
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from pellucid.decomposition import PCA
from pellucid.ensemble import (
    AdaBoostClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from pellucid.export import NotExportableError, register_skl2onnx
from pellucid.export.measuring import run
from pellucid.linear_model import LogisticRegression, Ridge
from pellucid.tree import DecisionTreeRegressor

rng = np.random.default_rng(0)
X = rng.standard_normal((300, 4))
CLASSES = np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, "high", "low")
NUMBERS = X[:, 0] ** 2 + X[:, 1]
ROWS = [("X", DoubleTensorType([None, 4]))]


@pytest.fixture(autouse=True, scope="module")
def _registered():
    register_skl2onnx()


@pytest.mark.parametrize(
    ("model", "target"),
    [
        (Ridge(), NUMBERS),
        (LogisticRegression(), CLASSES),
        (RandomForestClassifier(10, random_state=0), CLASSES),
        (AdaBoostClassifier(n_estimators=10, random_state=0), CLASSES),
        (HistGradientBoostingClassifier(max_iter=20), CLASSES),
        (HistGradientBoostingClassifier(max_iter=20), np.digitize(NUMBERS, [0.0, 1.0])),
        (HistGradientBoostingRegressor(max_iter=20), NUMBERS),
    ],
    ids=lambda one: type(one).__name__,
)
def test_a_pipeline_of_theirs_and_ours_answers_as_in_memory(model, target):
    pipeline = make_pipeline(MinMaxScaler(), PCA(3), model).fit(X, target)
    said = run(convert_sklearn(pipeline, initial_types=ROWS, target_opset=21), {"X": X})
    if "label" in said:
        np.testing.assert_array_equal(said["label"], pipeline.predict(X))
        np.testing.assert_allclose(said["probabilities"], pipeline.predict_proba(X), atol=1e-12)
    else:
        np.testing.assert_allclose(said["variable"], pipeline.predict(X), rtol=1e-12)


def test_refuses_words_and_sets_of_categories_in_a_sentence():
    with pytest.raises(NotExportableError, match="inputs must be one of .*, got StringTensorType"):
        convert_sklearn(Ridge().fit(X, NUMBERS), initial_types=[("X", StringTensorType([None, 4]))], target_opset=21)
    codes = np.floor(3 * np.abs(X))
    model = DecisionTreeRegressor(categorical_features=[0, 1, 2, 3]).fit(codes, NUMBERS)
    with pytest.raises(NotExportableError, match="need ai.onnx.ml 5. Use pellucid.to_onnx"):
        convert_sklearn(model, initial_types=ROWS, target_opset=21)
