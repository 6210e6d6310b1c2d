"""Scores of label maps: by hand, against scikit-learn, proved again, attacked."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix, jaccard_score

import pellucid
from pellucid.core.user_warnings import UncertifiedWarning
from pellucid.vision.segmentation import confusion_counts, segmentation_score, show_mean_iou
from pellucid.vision.segmentation.label_maps import codes_of


def maps(seed, n=5, classes=4, ignored=0.1):
    random = np.random.default_rng(seed)
    sizes = random.integers(3, 12, (n, 2))
    truth = [random.integers(0, classes, size).astype(np.uint8) for size in sizes]
    guess = [np.where(random.random(one.shape) < 0.7, one, random.integers(0, classes, one.shape)) for one in truth]
    for one in truth:
        one[random.random(one.shape) < ignored] = 255
    return truth, [one.astype(np.uint8) for one in guess]


# by hand


def test_two_classes_by_hand():
    score = segmentation_score([[[1, 1], [2, 2]]], [[[1, 2], [2, 2]]])
    assert score.counts.tolist() == [[[1, 1], [0, 2]]]
    assert score.pixel_accuracy == 3 / 4
    assert score.class_accuracy.tolist() == [1 / 2, 1.0]
    assert score.class_iou.tolist() == [1 / 2, 2 / 3]
    assert score.mean_iou == pytest.approx((1 / 2 + 2 / 3) / 2)


def test_a_class_that_nobody_says_is_left_out_of_the_mean():
    score = segmentation_score([[[0, 1]]], [[[0, 1]]], classes=[0, 1, 7])
    assert score.mean_iou == 1.0
    assert np.isnan(score.class_iou[2])


def test_a_class_only_predicted_has_iou_0_and_no_accuracy():
    score = segmentation_score([[[0, 0]]], [[[0, 1]]])
    assert score.class_iou.tolist() == [0.5, 0.0]
    assert score.mean_accuracy == 0.5
    assert np.isnan(score.class_accuracy[1])


def test_what_is_predicted_on_ignored_pixels_is_not_looked_at():
    score = segmentation_score([[[0, 1, 9]]], [[[0, 1, 77]]], ignore=9)
    assert score.classes.tolist() == [0, 1]
    assert score.pixel_accuracy == 1.0


def test_a_label_to_ignore_that_no_map_can_hold_ignores_nothing():
    truth, guess = [np.array([[0, 1]], np.uint8)], [np.array([[0, 0]], np.uint8)]
    score = segmentation_score(truth, guess, ignore=-1)
    assert score.pixel_accuracy == 0.5
    assert pellucid.verify(score, truth, guess).holds


def test_labels_may_be_texts():
    score = segmentation_score([np.array([["sky", "road"]])], [np.array([["sky", "sky"]])])
    assert score.classes.tolist() == ["road", "sky"]
    assert score.class_iou.tolist() == [0.0, 0.5]
    assert score.frame().loc["sky", "predicted"] == 2


def test_the_interval_of_two_images_by_hand():
    # class 0 is right in the first image, class 1 is said in the second: the mean IoU of two draws is 1, of each image
    # once (1/2 + 0) / 2, or 0; these are drawn with probabilities 1/4, 1/2, 1/4
    score = segmentation_score([[[0]], [[0]]], [[[0]], [[1]]], classes=[0, 1])
    assert score.interval(0.4) == (0.25, 0.25)
    assert score.interval(0.6) == (0.0, 1.0)


# properties


@given(st.integers(0, 10_000))
def test_images_pooled_or_apart_have_the_same_scores(seed):
    truth, guess = maps(seed)
    whole = segmentation_score(truth, guess, classes=range(4), ignore=255)
    flat = segmentation_score(
        [np.concatenate([one.ravel() for one in truth])[None]],
        [np.concatenate([one.ravel() for one in guess])[None]],
        classes=range(4),
        ignore=255,
    )
    assert whole.counts.sum(axis=0).tolist() == flat.counts[0].tolist()
    assert whole.mean_iou == flat.mean_iou


@given(st.integers(0, 10_000))
def test_every_score_is_proved(seed):
    truth, guess = maps(seed)
    score = segmentation_score(truth, guess, ignore=255)
    assert pellucid.verify(score, truth, guess).holds


def test_an_interval_holds_the_score_and_grows_with_blocks_of_like_images():
    random = np.random.default_rng(0)
    truth, guess = [], []
    for _ in range(12):  # scenes of ten frames that are right or wrong together
        right = random.random()
        for _ in range(10):
            one = random.integers(0, 3, (8, 8))
            truth.append(one)
            guess.append(np.where(random.random(one.shape) < right, one, random.integers(0, 3, one.shape)))
    score = segmentation_score(truth, guess)
    (low, high), (low_block, high_block) = score.interval(), score.interval(block=10)
    assert low_block < low < score.mean_iou < high < high_block
    assert score.interval() == score.interval()


def test_codes_are_places_of_labels():
    assert codes_of([np.array([["b", "a"]])], np.array(["a", "b"]))[0].tolist() == [[1, 0]]
    assert codes_of([np.array([[-5, 300]])], np.array([-5, 300]))[0].tolist() == [[0, 1]]


@given(st.integers(0, 10_000))
def test_workings_agree_with_the_scores(seed):
    truth, guess = maps(seed, n=1, classes=3)
    shown = show_mean_iou(truth[0], guess[0], ignore=255)
    score = segmentation_score(truth, guess, ignore=255)
    for name in ("pixel_accuracy", "mean_accuracy", "mean_iou"):
        assert float(shown.answer[name]) == pytest.approx(getattr(score, name), abs=1e-12)
    assert [float(one) for one in shown.answer["class_iou"]] == pytest.approx(score.class_iou.tolist(), abs=1e-12)


def test_workings_are_printed_and_refuse_what_is_too_much():
    text = show_mean_iou([["sky", "sea"]], [["sky", "sky"]]).text()
    assert "mean IoU" in text
    assert "only predicted" not in text
    assert "only predicted" in show_mean_iou([["sky"]], [["sea"]]).text()
    with pytest.raises(ValueError, match="at most 400 pixels to be shown, got 441"):
        show_mean_iou(np.zeros((21, 21), int), np.zeros((21, 21), int))
    with pytest.raises(ValueError, match="at most 8 classes to be shown, got 9"):
        show_mean_iou([range(9)], [range(9)])
    with pytest.raises(ValueError, match="a pixel that counts, got none"):
        show_mean_iou([[9]], [[0]], ignore=9)


# peer


@given(st.integers(0, 10_000))
def test_the_same_as_scikit_learn(seed):
    truth, guess = maps(seed, ignored=0.0)
    score = segmentation_score(truth, guess, classes=range(4))
    flat, said = np.concatenate([a.ravel() for a in truth]), np.concatenate([a.ravel() for a in guess])
    assert score.counts.sum(axis=0).tolist() == confusion_matrix(flat, said, labels=range(4)).tolist()
    present = np.union1d(flat, said)
    assert score.mean_iou == pytest.approx(jaccard_score(flat, said, labels=present, average="macro"), abs=1e-15)


# attacks


def changes(score):
    yield "classes", score.classes[::-1]
    yield "classes", score.classes[:-1]
    yield "classes", np.append(score.classes[:-1], 99)
    yield "ignore", None
    yield "ignore", 0
    yield "counts", score.counts[::-1].copy()
    yield "counts", score.counts.transpose(0, 2, 1)
    yield "counts", score.counts[:-1]
    yield "counts", score.counts + 0.0
    yield "counts", score.counts * 2
    for name in ("pixel_accuracy", "mean_accuracy", "mean_iou"):
        for value in (getattr(score, name) + 1e-9, float("nan"), 1e200, 1.0):
            yield name, value
    for name in ("class_accuracy", "class_iou"):
        values = getattr(score, name)
        for value in (values[::-1].copy(), values + 1e-9, np.where(values < values.max(), values, np.nan), values[:-1]):
            yield name, value


def test_a_changed_score_does_not_hold():
    truth, guess = maps(3)
    score = segmentation_score(truth, guess, ignore=255)
    touched = set()
    for name, value in changes(score):
        with pytest.warns(UncertifiedWarning):
            assert not pellucid.verify(replace(score, **{name: value}), truth, guess).holds, (name, value)
        touched.add(name)
    assert touched == {field.name for field in fields(score)}


def test_other_maps_do_not_have_the_score():
    truth, guess = maps(3)
    score = segmentation_score(truth, guess, ignore=255)
    for other in (guess[::-1], guess[:-1], [*guess[:-1], (guess[-1] + 1) % 4]):
        with pytest.warns(UncertifiedWarning):
            assert not pellucid.verify(score, truth, other).holds


# errors


@pytest.mark.parametrize(
    ("truth", "guess", "options", "sentence"),
    [
        ([], [], {}, "truth must hold at least one map, got none"),
        ([[0, 1]], [[[0, 1]]], {}, r"truth must be of shape \(height, width\), got map 0 of shape \(2,\)"),
        ([[[0, 1]]], [[[0.0, 1.0]]], {}, "predicted must hold whole numbers or texts, got map 0 of float64"),
        ([[[0]], [[0]]], [[[0]]], {}, "truth and predicted must be equally many, got 2 and 1"),
        (
            [[[0, 1]], [[0]], [[1]]],
            [[[0]], [[0]], [[1, 1]]],
            {},
            r"number 0 with \(1, 2\) and \(1, 1\); number 2 with \(1, 1\) and \(1, 2\)",
        ),
        ([[[0, 5]]], [[[0, 0]]], {"classes": [0, 1]}, r"truth must hold \[0, 1\], got \[5\] in map 0"),
        ([[[9]]], [[[0]]], {"ignore": 9}, "truth must hold a pixel that counts, got none"),
        ([[[0, 1]]], [[[0, 9]]], {"ignore": 9}, "predicted must hold a class where the truth does"),
    ],
)
def test_bad_maps_are_refused_in_a_sentence(truth, guess, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        segmentation_score(truth, guess, **options)


def test_one_map_is_not_several():
    with pytest.raises(ValueError, match=r"several maps, got one of shape \(2, 2\). Write \[label_map\]"):
        segmentation_score(np.eye(2, dtype=int), np.eye(2, dtype=int))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([0, 1], [0], 2), r"one shape, got \(2,\) and \(1,\)"),
        (([0, 2], [0, 1], 2), "truth must hold codes from 0 to 1, got 0 to 2"),
        (([0, 1], [0, -1], 2), "predicted must hold codes from 0 to 1, got -1 to 0"),
        (([0, 1], [0, 1], 0), "n_classes must be at least 1, got 0"),
    ],
)
def test_counts_refuse_what_is_no_code(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        confusion_counts(*arguments)


def test_an_interval_needs_two_blocks():
    with pytest.raises(ValueError, match="at least 2 blocks for an interval, got 1 images"):
        segmentation_score([[[0]]], [[[0]]]).interval()
