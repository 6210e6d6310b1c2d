"""A file whose transformers of tables contradict themselves is refused."""

import numpy as np
import pytest

import pellucid
from pellucid.core.files import SchemaError
from tests.core.files.sample_models import fitted_transformers


def spoiled(name, spoil, tmp_path):
    model, _ = fitted_transformers()[name]
    spoil(model)
    pellucid.save(model, tmp_path / "model.safetensors")
    return tmp_path / "model.safetensors"


@pytest.mark.parametrize(
    ("name", "spoil", "sentence"),
    [
        ("TfidfVectorizer", lambda m: m.vocabulary_.update(text=7), "vocabulary_ of TfidfVectorizer must number"),
        ("TfidfVectorizer", lambda m: setattr(m, "_tfidf", None), "_tfidf of TfidfVectorizer must be"),
        ("StepFeatures", lambda m: m.thresholds_[0].sort() or m.thresholds_[0][::-1].sort(), "must rise"),
        ("StepFeatures", lambda m: m.thresholds_.pop(), "thresholds_ must have 3 entries, got 2"),
        ("ColumnReader", lambda m: m.kinds.update(more="words"), "must be the columns of its kinds"),
        ("ColumnReader", lambda m: m.with_hours_.append("elsewhere"), "must be the columns of its kinds"),
        ("OneHotEncoder", lambda m: m._infrequent_indices.append(None), "_infrequent_indices must have 1 entries"),
        ("OneHotEncoder", lambda m: m.set_params(max_categories=None), "if, and only if, rare ones are grouped"),
        ("OneHotEncoder", lambda m: m._infrequent_indices.__setitem__(0, np.array([5])), "must rise and stay below 3"),
        ("OrdinalEncoder", lambda m: m._infrequent_indices.__setitem__(0, np.array([5])), "must rise and stay below 3"),
        ("OrdinalEncoder", lambda m: m.categories_.__setitem__(0, np.array([1.0, np.nan, 2.0])), "must have no gaps"),
        ("WordEncoder", lambda m: m.words_.append(m.words_[0]), "words_ must have 1 entries"),
        ("WordEncoder", lambda m: m.words_.__setitem__(0, np.array(["b", "a"])), "words_ of WordEncoder must rise"),
        ("TargetMeans", lambda m: m.words_.__setitem__(0, m.words_[0][::-1]), "words_ of TargetMeans must rise"),
        ("TargetMeans", lambda m: m.means_.__setitem__(0, m.means_[0][:-1]), "must have a row for each word"),
        ("SimpleImputer", lambda m: setattr(m, "indicator_", None), "indicator_ of SimpleImputer must be"),
        ("MissingIndicator", lambda m: setattr(m, "features_", np.array([9])), "must be below 2"),
    ],
)
def test_what_contradicts_itself_is_refused(name, spoil, sentence, tmp_path):
    with pytest.raises((SchemaError, pellucid.core.files.NotSaveableError), match=sentence):
        pellucid.load(spoiled(name, spoil, tmp_path))
