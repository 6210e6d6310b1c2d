"""Means of the target for words: by hand, never from the row itself, dealt the same way again."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from pellucid.app.tables.target_means import TargetMeans

FRAME = pd.DataFrame({"city": ["Bern", "Bern", "Basel", None], "maker": ["a", "b", "a", "b"]})
Y = np.array([1.0, 3.0, 0.0, 4.0])


def test_means_are_drawn_toward_the_mean_of_all_rows():
    means = TargetMeans(strength=2.0).fit(FRAME, Y)
    found = means.transform(FRAME)
    # the mean of all is 2: Bern (4 + 4) / 4, Basel (0 + 4) / 3, the gap (4 + 4) / 3; a (1 + 4) / 4, b (7 + 4) / 4
    np.testing.assert_allclose(found, [[2, 1.25], [2, 2.75], [4 / 3, 1.25], [8 / 3, 2.75]])
    new = pd.DataFrame({"city": ["Genf"], "maker": ["c"]})
    np.testing.assert_allclose(means.transform(new), [[2.0, 2.0]])


def test_without_strength_a_word_has_its_own_mean():
    found = TargetMeans(strength=0.0).fit(FRAME, Y).transform(FRAME)
    np.testing.assert_allclose(found[:, 0], [2, 2, 0, 4], atol=1e-300)


def test_classes_have_a_share_each_and_two_have_one():
    two = TargetMeans(strength=0.0).fit(FRAME, np.array(["no", "yes", "no", "yes"]))
    np.testing.assert_allclose(two.transform(FRAME)[:, 1], [0, 1, 0, 1], atol=1e-300)
    three = TargetMeans(strength=0.0).fit(FRAME[["maker"]], np.array(["x", "y", "z", "y"]))
    np.testing.assert_allclose(three.transform(FRAME)[0], [0.5, 0, 0.5], atol=1e-300)
    assert list(three.get_feature_names_out()) == ["mean of maker 0", "mean of maker 1", "mean of maker 2"]


def test_no_row_knows_its_own_target():
    rng = np.random.default_rng(0)
    words = pd.DataFrame({"w": [f"w{k % 25}" for k in range(100)]})
    y = rng.normal(size=100)
    found = TargetMeans().fit_transform(words, y)
    for row in (0, 17, 99):
        moved = y.copy()
        moved[row] += 1e6
        again = TargetMeans().fit_transform(words, moved)
        assert again[row] == pytest.approx(found[row])  # but other rows of its word know it
        assert np.abs(again - found).max() > 1e3


def test_noise_becomes_no_signal():
    rng = np.random.default_rng(0)
    words, y = pd.DataFrame({"w": [f"w{k // 3}" for k in range(900)]}), rng.normal(size=900)
    crossed = TargetMeans().fit_transform(words, y)[:, 0]
    told = TargetMeans().fit(words, y).transform(words)[:, 0]
    assert abs(np.corrcoef(crossed, y)[0, 1]) < 0.15
    assert np.corrcoef(told, y)[0, 1] > 0.5  # what would be learned from, without parts


def test_rows_are_dealt_the_same_way_again_and_otherwise_by_another_seed():
    words, y = pd.DataFrame({"w": [f"w{k % 7}" for k in range(60)]}), np.arange(60.0)
    one, again, other = (TargetMeans(random_state=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.fit_transform(words, y), clone(again).fit_transform(words, y))
    assert not np.array_equal(one.transform(words), one.fit_transform(words, y))
    assert not np.array_equal(one.fit_transform(words, y), other.fit_transform(words, y))


@pytest.mark.parametrize(
    ("wrong", "sentence"), [({"strength": -1.0}, "strength must be"), ({"n_parts": 1}, "n_parts must")]
)
def test_bad_settings_are_refused(wrong, sentence):
    with pytest.raises(ValueError, match=sentence):
        TargetMeans(**wrong).fit(FRAME, Y)
