"""Figures of lectures: what they draw is what they say."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.optimize import minimize

from pellucid.core.trace import record
from pellucid.data import load_iris
from pellucid.decomposition import PCA, FastICA, KernelPCA
from pellucid.discriminant_analysis import LinearDiscriminantAnalysis
from pellucid.ensemble import AdaBoostClassifier
from pellucid.linear_model import LinearRegression, Ridge, RidgeClassifier
from pellucid.model_selection import bias_variance_bootstrap, bias_variance_simulation
from pellucid.naive_bayes import BayesClassifier
from pellucid.neural_network import MLPClassifier, convolve
from pellucid.optimize import InverseTime
from pellucid.plots import (
    plot_activations,
    plot_bias_variance,
    plot_boosting_rounds,
    plot_class_densities,
    plot_component_contours,
    plot_convexity,
    plot_decision_regions,
    plot_directions,
    plot_discriminant_values,
    plot_early_stopping,
    plot_em_bound,
    plot_hyperplane,
    plot_images,
    plot_lifted,
    plot_penalty_balls,
    plot_projections,
    plot_race,
    plot_reconstruction,
    plot_reject_region,
    plot_resampled_curves,
    plot_response,
    plot_schedules,
    plot_single_features,
    plot_soft_threshold,
    plot_traces,
    plot_unit_balls,
    plot_unit_disc,
)
from pellucid.probability import Gaussian, curve_band
from pellucid.svm import SVC


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def named(ax):
    """Return the lines with a name, and every entry of the legend must be one that is drawn."""
    return {line.get_label(): line for line in ax.lines if not line.get_label().startswith("_")}


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def wave(X):
    return np.sin(2 * np.pi * np.asarray(X)[:, 0])


def draw(random):
    X = random.random((20, 1))
    return X, wave(X) + 0.3 * random.standard_normal(20)


def split(**changes):
    given = {"noise_variance": 0.09, "n_repeats": 20} | changes
    return bias_variance_simulation(LinearRegression(), draw, np.linspace(0, 1, 9)[:, None], wave, **given)


def test_bias_variance_and_noise_against_complexity():
    splits = {3: split(n_repeats=20), 1: split(n_repeats=30), 2: split(n_repeats=10)}
    ax = plot_bias_variance(splits, name="degree")
    lines = named(ax)
    np.testing.assert_array_equal(lines["bias²"].get_xydata(), [[k, splits[k].bias] for k in (1, 2, 3)])
    np.testing.assert_array_equal(lines["variance"].get_ydata(), [splits[k].variance for k in (1, 2, 3)])
    np.testing.assert_array_equal(lines["noise"].get_ydata(), [0.09] * 3)
    parts = sum(lines[name].get_ydata() for name in ("bias²", "variance", "noise"))
    np.testing.assert_allclose(lines["expected error"].get_ydata(), parts)
    best = min(splits, key=lambda k: splits[k].error)
    assert lines[f"least error at {best}"].get_xydata().tolist() == [[best, splits[best].error]]
    assert ax.get_xlabel() == "degree"
    assert ax.get_xscale() == "linear"


def test_bias_that_holds_noise_says_so_and_penalties_fall():
    X, y = draw(np.random.default_rng(0))
    splits = {alpha: bias_variance_bootstrap(Ridge(alpha=alpha), X, y, n_repeats=20) for alpha in (0.01, 1.0, 100.0)}
    ax = plot_bias_variance(splits, falls=True)
    assert "bias² with noise" in legend(ax)
    assert "noise" not in legend(ax)
    assert ax.get_xscale() == "log"
    assert ax.xaxis_inverted()
    with pytest.raises(ValueError, match="at least two complexities, got 1"):
        plot_bias_variance({1: splits[1.0]})


def test_resampled_curves_are_the_fits_their_mean_and_the_truth():
    found = split()
    grid = np.linspace(0, 1, 9)
    ax = plot_resampled_curves(grid, found.predictions, truth=wave)
    lines = named(ax)
    np.testing.assert_allclose(lines["their mean"].get_ydata(), found.predictions.mean(axis=0))
    np.testing.assert_allclose(lines["truth"].get_ydata(), wave(grid[:, None]))
    np.testing.assert_allclose(ax.lines[4].get_ydata(), found.predictions[4])
    gap = found.predictions.mean(axis=0) - wave(grid[:, None])
    expected = np.mean(gap**2) - np.mean(found.predictions.var(axis=0, ddof=1)) / 20
    assert found.bias == pytest.approx(expected)  # the picture and the number are of the same fits


def test_curves_of_the_bootstrap_are_drawn_over_the_rows():
    X, y = draw(np.random.default_rng(1))
    band = curve_band(LinearRegression(), X, y, np.linspace(0, 1, 7), n_resamples=80, random_state=0)
    ax = plot_resampled_curves(band.grid, band.resampled_curves, X=X, y=y)
    assert legend(ax)[0] == "fits to 80 samples"
    np.testing.assert_allclose(ax.collections[0].get_offsets(), np.column_stack([X, y]))
    with pytest.raises(ValueError, match=r"curves must have the shape \(n_curves, 7\)"):
        plot_resampled_curves(band.grid, band.resampled_curves.T)


def correlated(seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((50, 2)) @ [[1.0, 0.6], [0.0, 0.8]]
    return X, X @ [0.3, 1.2] + 0.3 * random.standard_normal(50)


@pytest.mark.parametrize("q", [1, 2, 4])
def test_the_contour_touches_the_ball_at_the_constrained_least_squares(q):
    X, y = correlated()
    (ax,) = plot_penalty_balls(X, y, radius=0.7, norms=[q]).axes
    (star,) = [line for line in ax.lines if line.get_marker() == "*"]
    centered = X - X.mean(axis=0), y - y.mean()

    def error(w):
        return float(np.sum((centered[1] - centered[0] @ w) ** 2))

    bound = {"type": "ineq", "fun": lambda w: 0.7**q - np.sum(np.abs(w) ** q)}
    peer = minimize(error, [0.1, 0.1], constraints=[bound], method="SLSQP", options={"ftol": 1e-12, "maxiter": 500})
    found = star.get_xydata()[0]
    assert np.sum(np.abs(found) ** q) ** (1 / q) == pytest.approx(0.7)
    assert error(found) <= error(peer.x) * (1 + 1e-6)
    np.testing.assert_allclose(found, peer.x, atol=1e-3)


def test_the_ball_of_the_lasso_is_touched_at_a_corner():
    X, y = correlated()
    lasso, ridge = plot_penalty_balls(X, y, radius=0.7).axes
    at = {ax: next(line for line in ax.lines if line.get_marker() == "*").get_xydata()[0] for ax in (lasso, ridge)}
    assert at[lasso].tolist() == [0.0, 0.7]
    assert at[ridge].all()
    np.testing.assert_allclose(
        next(line for line in lasso.lines if "least squares" in line.get_label()).get_xydata()[0],
        LinearRegression().fit(X, y).coef_,
    )
    wide = plot_penalty_balls(X, y, radius=9.0).axes[0]
    inside = next(line for line in wide.lines if line.get_marker() == "*").get_xydata()[0]
    np.testing.assert_allclose(inside, LinearRegression().fit(X, y).coef_)
    with pytest.raises(ValueError, match="X must have two columns"):
        plot_penalty_balls(np.ones((4, 3)), np.ones(4))


def test_thresholds_of_one_coefficient():
    lines = named(plot_soft_threshold(0.5))
    w, soft = lines["lasso: soft threshold"].get_data()
    np.testing.assert_allclose(soft, np.sign(w) * np.maximum(np.abs(w) - 0.5, 0))
    np.testing.assert_allclose(lines["ridge: shrinks in proportion"].get_ydata(), w / 1.5)
    hard = lines["best subset: hard threshold"].get_ydata()
    assert set(np.unique(hard[(np.abs(w) <= 0.5) & np.isfinite(hard)])) == {0.0}
    with pytest.raises(ValueError, match="threshold must be above 0"):
        plot_soft_threshold(0.0)


def test_activations_and_their_slopes():
    lines = named(plot_activations())
    z, values = lines["sigmoid"].get_data()
    np.testing.assert_allclose(values, 1 / (1 + np.exp(-z)))
    np.testing.assert_allclose(lines["leaky ReLU"].get_ydata(), np.where(z > 0, z, 0.01 * z))
    np.testing.assert_allclose(lines["ELU"].get_ydata(), np.where(z > 0, z, np.expm1(z)))
    slopes = named(plot_activations(["tanh", "relu"], slopes=True))
    np.testing.assert_allclose(slopes["tanh"].get_ydata(), 1 - np.tanh(z) ** 2)
    with pytest.raises(ValueError, match="names must be of .* got 'swish'"):
        plot_activations(["swish"])


def test_early_stopping_keeps_the_epoch_of_least_validation_error():
    ax = plot_early_stopping([3.0, 2.0, 1.0, 0.5], [3.0, 2.5, 2.0, 2.2])
    lines = named(ax)
    assert lines["kept: epoch 3"].get_xydata().tolist() == [[3, 2.0]]
    np.testing.assert_array_equal(lines["training"].get_ydata(), [3.0, 2.0, 1.0, 0.5])
    assert legend(ax) == ["training", "validation", "kept: epoch 3", "trained in vain"]
    assert ax.patches[0].get_x() == 3
    with pytest.raises(ValueError, match="an error for each of the 2 epochs, got 3"):
        plot_early_stopping([1.0, 2.0], [1.0, 2.0, 3.0])


def test_early_stopping_of_a_fitted_network():
    X, y = load_iris().iloc[:, :4], load_iris()["species"]
    model = MLPClassifier((8,), early_stopping=True, tol=0.05, random_state=0, n_iter_no_change=5).fit(X, y)
    ax, right = plot_early_stopping(model).figure.axes
    np.testing.assert_allclose(ax.lines[0].get_ydata(), model.trace_["objective"])
    np.testing.assert_allclose(right.lines[0].get_ydata(), 1 - model.trace_["validation_score"])
    best = int(np.argmax(model.trace_["validation_score"])) + 1
    assert f"kept: epoch {best}" in legend(right)
    with pytest.raises(ValueError, match="Fit with early_stopping=True"):
        plot_early_stopping(MLPClassifier((3,), tol=0.1, random_state=0).fit(X, y))


def test_losses_of_several_learning_rates_stand_on_one_axis():
    ax = plot_traces({"small": [1.0, 0.9], "right": [1.0, 0.2], "wild": [1.0, 50.0]})
    assert legend(ax) == ["small", "right", "wild"]
    assert ax.get_ylim()[1] == 3.0  # what explodes leaves the picture
    model = MLPClassifier((4,), max_iter=30, tol=0.1, random_state=0).fit(np.eye(6), [0, 1] * 3)
    np.testing.assert_allclose(plot_traces({"fit": model}).lines[0].get_ydata(), model.trace_["objective"])


def test_em_bounds_touch_and_stay_below_and_their_tops_are_the_next_means():
    x = np.concatenate([np.random.default_rng(0).normal(m, 1, 20) for m in (-2, 2)])
    ax = plot_em_bound(x, [-5.0, 2.0], steps=3)
    lines = named(ax)
    truth = lines["log-likelihood $\\ell(\\mu)$"]
    marks = [line for line in ax.lines if line.get_marker() in "o^" and len(line.get_xdata()) == 1]
    touches = [line.get_xydata()[0] for line in marks if line.get_marker() == "o"]
    tops = [line.get_xydata()[0] for line in marks if line.get_marker() == "^"]
    for t in range(3):
        bound = lines[f"bound $B_{t}$"]
        assert (bound.get_ydata() <= truth.get_ydata() + 1e-9).all()
        at = np.interp(touches[t][0], *bound.get_data())
        assert at == pytest.approx(touches[t][1], abs=0.05)
        highest = bound.get_xdata()[np.argmax(bound.get_ydata())]
        assert highest == pytest.approx(tops[t][0], abs=np.diff(bound.get_xdata())[0])
    assert [touch[0] for touch in touches[1:]] == pytest.approx([top[0] for top in tops[:-1]])
    assert np.all(np.diff([touch[1] for touch in touches]) > 0)  # the likelihood rises
    with pytest.raises(ValueError, match="weights must be above 0 with sum 1"):
        plot_em_bound(x, [0.0, 1.0], weights=[0.5, 0.6])


def test_the_unit_disc_becomes_an_ellipse_with_the_singular_values_as_half_axes():
    A = np.array([[1.0, 2.0], [0.5, -1.0]])
    first, turned, stretched, last = plot_unit_disc(A).axes
    sigma = np.linalg.svd(A)[1]
    edge = {ax: next(line for line in ax.lines if len(line.get_xdata()) > 2).get_xydata() for ax in
            (first, turned, stretched, last)}  # fmt: skip
    np.testing.assert_allclose(edge[last], edge[first] @ A.T, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(edge[turned], axis=1), 1.0)
    on_axes = [note.xy for note in turned.texts if not note.get_text()]
    np.testing.assert_allclose(on_axes, np.eye(2), atol=1e-12)  # V' turns v1 and v2 onto the axes
    np.testing.assert_allclose(np.abs(edge[stretched]).max(axis=0), sigma, rtol=1e-3)
    tips = [note.xy for note in last.texts if not note.get_text()]
    np.testing.assert_allclose([np.hypot(*tip) for tip in tips], sigma)
    assert tips[0] @ np.array(tips[1]) == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(ValueError, match=r"two by two finite numbers.*got shape \(2, 3\)"):
        plot_unit_disc([[1, 2, 1], [2, 3, 1]])


def rings():
    random = np.random.default_rng(0)
    angle, radius = random.uniform(0, 2 * np.pi, 80), np.repeat([0.3, 1.0], 40)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1), np.repeat(["in", "out"], 40)


def test_contours_of_kernel_components_are_their_values():
    X, y = rings()
    model = KernelPCA(3, kernel="rbf", gamma=2.0).fit(X)
    figure = plot_component_contours(model, X, y, components=(0, 2, 7))
    assert [ax.get_title() for ax in figure.axes] == ["component 1", "component 3"]
    filled = figure.axes[1].collections[0]
    grid = np.random.default_rng(1).uniform(-0.9, 0.9, (30, 2))
    for value, place in zip(model.transform(grid)[:, 2], grid, strict=True):
        inside = [path.contains_point(place) for path in filled.get_paths()]
        band = int(np.digitize(value, filled.levels)) - 1
        assert inside[band] or min(abs(value - filled.levels)) < 0.02
    with pytest.raises(ValueError, match="components must be some of the 3 fitted ones"):
        plot_component_contours(model, X, components=(5,))


def test_pca_and_lda_on_the_same_data_have_their_own_directions():
    random = np.random.default_rng(0)
    X = random.standard_normal((100, 2)) * [3.0, 0.5] + np.repeat([[0, 1], [0, -1]], 50, axis=0)
    y = np.repeat(["a", "b"], 50)
    models = {"PCA": PCA().fit(X), "LDA": LinearDiscriminantAnalysis(solver="eigen").fit(X, y)}
    ax, along_pca, along_lda = plot_projections(models, X, y).axes
    lines = named(ax)
    for name, way in (("PCA", models["PCA"].components_[0]), ("LDA", models["LDA"].scalings_[:, 0])):
        drawn = np.diff(lines[f"{name} direction"].get_xydata(), axis=0)[0]
        assert abs(drawn @ way) == pytest.approx(np.linalg.norm(drawn) * np.linalg.norm(way))
    assert sum(bar.get_height() for bar in along_lda.patches) == 100

    def overlap(below):
        heights = np.array([bar.get_height() for bar in below.patches]).reshape(2, -1)
        return np.minimum(*heights).sum()

    assert overlap(along_lda) < 5 < 25 < overlap(along_pca)


def test_directions_of_pca_are_at_right_angles_those_of_ica_need_not_be():
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, (400, 2)) @ np.array([[1.0, 0.2], [0.9, 1.0]])
    models = {"PCA": PCA().fit(X), "ICA": FastICA(random_state=0).fit(X)}
    ax = plot_directions(models, X)
    tips = np.array([note.xy for note in ax.texts]) - X.mean(axis=0)
    assert tips[0] @ tips[1] == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(tips[2:], 2 * models["ICA"].mixing_.T)
    assert legend(ax) == ["PCA", "ICA"]


def test_the_reconstruction_is_the_nearest_point_of_the_line():
    X = np.array([[0.6, 0.4], [1.0, 1.2], [1.6, 1.3], [2.0, 2.3]])  # the example of the notes
    model = PCA().fit(X)
    ax = plot_reconstruction(model, X)
    back = np.asarray(ax.collections[1].get_offsets())
    expected = PCA(1).fit(X).inverse_transform(PCA(1).fit(X).transform(X))
    np.testing.assert_allclose(back, expected)
    lost = np.sum((X - expected) ** 2)
    assert f"lost: {lost:.4g} of 2.98" in ax.get_title()  # 4 * (0.29 + 0.455)
    with pytest.raises(ValueError, match="n_components must be 1 to 2, got 3"):
        plot_reconstruction(model, X, n_components=3)


def two_gaussians():
    return BayesClassifier({"ill": Gaussian(2, 1), "well": Gaussian(0, 1)}, priors=[0.5, 0.5]).fit()


def test_the_reject_region_is_where_no_class_is_probable_enough():
    # P(ill | x) = 1 / (1 + exp(2 - 2 x)) is between 0.2 and 0.8 for |x - 1| < log(4) / 2
    X = np.linspace(-3, 5, 41)[:, None]
    ax = plot_reject_region(two_gaussians(), X, reject_cost=0.2)
    (region,) = [patch for patch in ax.patches if patch.get_label() == "reject"]
    ends = region.get_x(), region.get_x() + region.get_width()
    assert ends == pytest.approx((1 - np.log(4) / 2, 1 + np.log(4) / 2), abs=0.02)
    x, ill = named(ax)["P(ill | x)"].get_data()
    np.testing.assert_allclose(ill, 1 / (1 + np.exp(2 - 2 * x)))
    assert ax.get_title() == f"{np.mean(np.abs(X - 1) < np.log(4) / 2):.1%} of the rows are rejected"
    assert "reject" not in legend(plot_reject_region(two_gaussians(), X, reject_cost=0.5))
    with pytest.raises(ValueError, match="X must have one column"):
        plot_reject_region(two_gaussians(), np.ones((3, 2)))


def test_class_densities_show_the_bayes_error():
    ax = plot_class_densities(two_gaussians(), np.array([[-4.0], [6.0]]))
    x, ill = named(ax)["P(ill) p(x | ill)"].get_data()
    np.testing.assert_allclose(ill, 0.5 * np.exp(-((x - 2) ** 2) / 2) / np.sqrt(2 * np.pi))
    assert "Bayes error, about 0.159" in legend(ax)  # Phi(-1)
    border = ax.lines[2].get_xdata()[0]
    assert border == pytest.approx(1.0, abs=0.02)


def test_the_response_is_the_convolution_of_the_notes():
    first, response, output = plot_response([3, 1, 2], [3, 2, 1]).axes
    values = [float(text.get_text()) for text in output.texts]
    assert values == [9, 9, 11, 5, 2]
    assert legend(output) == ["3 h[n]", "1 h[n − 1]", "2 h[n − 2]"]
    heights = np.array([bar.get_height() for bar in output.patches]).reshape(3, 5)
    np.testing.assert_array_equal(heights.sum(axis=0), convolve([3, 1, 2], [3, 2, 1]))
    np.testing.assert_array_equal(heights[1], [0, 3, 2, 1, 0])
    assert [text.get_text() for text in first.texts] == ["3", "1", "2"]
    assert len(response.texts) == 3
    with pytest.raises(ValueError, match="h must be a list of finite numbers"):
        plot_response([1.0], [[1.0]])


def test_copies_below_zero_hang_down():
    output = plot_response([1, -1], [1, 1]).axes[2]
    tops = {(bar.get_x(), bar.get_y(), bar.get_height()) for bar in output.patches if bar.get_height()}
    assert tops == {(-0.25, 0, 1), (0.75, 0, 1), (0.75, 0, -1), (1.75, 0, -1)}


def test_single_columns_of_iris_by_class():
    iris = load_iris()
    figure = plot_single_features(iris.iloc[:, :4], iris["species"])
    assert [ax.get_xlabel() for ax in figure.axes] == list(iris.columns[:4])
    virginica = figure.axes[2].lines[4]
    np.testing.assert_array_equal(virginica.get_xdata(), iris["petal_length"][100:])
    assert set(virginica.get_ydata()) == {2}
    assert figure.axes[2].lines[1].get_xdata()[0] == pytest.approx(iris["petal_length"][:50].mean())


def test_values_of_the_discriminant_and_mistakes():
    X, y = np.array([[-2.0], [-1.0], [1.0], [2.0], [0.5]]), np.array(["a", "a", "b", "b", "a"])
    model = RidgeClassifier().fit(X, y)
    ax = plot_discriminant_values(model, X, y)
    drawn = np.concatenate([line.get_ydata() for line in ax.lines[1:3]])
    np.testing.assert_allclose(np.sort(drawn), np.sort(model.decision_function(X)))
    wrong = model.predict(X) != y
    assert (f"{wrong.sum()} on the wrong side" in legend(ax)) == bool(wrong.any())
    with pytest.raises(ValueError, match="y must have two classes, got 3"):
        plot_discriminant_values(LinearRegression().fit(X, np.arange(5.0)), X[:3], [0, 1, 2])


def test_lifted_rows_are_parted_by_a_plane():
    X, y = rings()
    ax = plot_lifted(X, y, plane=0.5)
    inner, outer = (np.column_stack(dots._offsets3d) for dots in ax.collections[:2])
    np.testing.assert_allclose(inner[:, 2], 0.09)
    np.testing.assert_allclose(outer[:, 2], 1.0)
    np.testing.assert_allclose(outer[:, :2], X[40:])
    other = plot_lifted(X, y, lambda rows: rows[:, 0] * rows[:, 1])
    np.testing.assert_allclose(other.collections[0]._offsets3d[2], X[:40].prod(axis=1))


def test_images_stand_in_a_square_on_one_scale():
    images = np.arange(5 * 6).reshape(5, 2, 3)
    picture = plot_images(images).images[0].get_array()
    assert picture.shape == (2 * 3 - 1, 3 * 4 - 1)
    np.testing.assert_array_equal(picture[:2, 4:7], images[1])
    np.testing.assert_array_equal(picture[3:, :3], images[3])
    same = plot_images(images.reshape(5, 6), shape=(2, 3)).images[0].get_array()
    np.testing.assert_array_equal(same.filled(-1), picture.filled(-1))
    with pytest.raises(ValueError, match="Give shape for rows"):
        plot_images(images.reshape(5, 6))


def test_slacks_end_on_the_margin_of_their_class():
    X = np.array([[0.0, 0.0], [1.0, 0.2], [2.2, 1.0], [2.0, 2.0], [3.0, 1.0], [0.9, 1.1]])
    y = np.array(["a", "a", "a", "b", "b", "b"])
    model = SVC(kernel="linear", C=0.5).fit(X, y)
    ax = plot_decision_regions(model, X, y, slacks=True)
    dotted = [line.get_xydata() for line in ax.lines if line.get_linestyle() == ":"]
    scores = np.where(y == "b", 1, -1) * model.decision_function(X)
    assert len(dotted) == np.sum(scores < 1 - 1e-9) > 0
    for row, end in dotted:
        i = int(np.argmin(np.abs(X - row).sum(axis=1)))
        side = 1 if y[i] == "b" else -1
        assert model.decision_function([end])[0] == pytest.approx(side)
    with pytest.raises(ValueError, match="slacks must be of a linear model"):
        plot_decision_regions(SVC().fit(X, y), X, y, slacks=True)


def test_a_race_of_one_variable_shows_the_points_on_the_curve():
    from pellucid.optimize import GradientDescent
    from pellucid.optimize.race import race

    result = race("x**4 - 2*x", [2.0], {"descent": GradientDescent(0.05), "newton": "newton"})
    left, _ = plot_race(result).axes
    lines = named(left)
    x = lines["descent"].get_xdata()
    np.testing.assert_allclose(lines["descent"].get_ydata(), x**4 - 2 * x)
    assert x[0] == 2.0
    assert x[-1] == pytest.approx(0.5 ** (1 / 3), abs=1e-3)
    np.testing.assert_allclose(lines["f"].get_ydata(), lines["f"].get_xdata() ** 4 - 2 * lines["f"].get_xdata())


def test_a_chord_shows_that_a_function_is_not_convex():
    # x^4 - 2 x^2 between its minima -1 and 1: the chord is at -1, the function at 0 is 0
    ax = plot_convexity(lambda x: x**4 - 2 * x**2, -1.0, 1.0)
    lines = named(ax)
    assert lines["chord"].get_xydata().tolist() == [[-1.0, -1.0], [1.0, -1.0]]
    violated = lines["f is above the chord by 1: not convex"].get_xydata()
    np.testing.assert_allclose(violated, [[0.0, 0.0], [0.0, -1.0]], atol=0.01)
    assert "f is below this chord" in named(plot_convexity(lambda x: x**2, -1.0, 2.0))
    assert "f is below this chord" in named(plot_convexity(lambda x: 3 * x, -1.0, 2.0))  # lines are convex
    with pytest.raises(ValueError, match="a must be below b, got 2 and 1"):
        plot_convexity(abs, 2.0, 1.0)


def test_schedules_are_drawn_step_by_step():
    ax = plot_schedules({"1/t": InverseTime(1.0), "mine": lambda t: 0.5}, 4)
    np.testing.assert_allclose(named(ax)["1/t"].get_xydata(), [[0, 1], [1, 1 / 2], [2, 1 / 3], [3, 1 / 4]])
    assert named(ax)["mine"].get_ydata().tolist() == [0.5] * 4


@pytest.mark.parametrize(("p", "diagonal"), [(1, 0.5), (2, np.sqrt(0.5)), (np.inf, 1.0)])
def test_unit_balls_are_at_distance_one(p, diagonal):
    (line,) = named(plot_unit_balls([p])).values()
    edge = line.get_xydata()
    np.testing.assert_allclose(np.linalg.norm(edge, ord=p, axis=1), 1.0)
    assert edge[np.argmin(np.abs(edge[:, 0] - edge[:, 1]) - edge[:, 0])] == pytest.approx([diagonal] * 2)
    with pytest.raises(ValueError, match="norms must be above 0, got -1"):
        plot_unit_balls([-1])


def test_the_distance_of_a_point_from_the_border_is_its_value_over_the_length_of_w():
    X, y = np.array([[0.0, 0.0], [0.0, 1.0], [3.0, 4.0], [4.0, 3.0]]), np.array(["a", "a", "b", "b"])
    model = SVC(kernel="linear").fit(X, y)
    ax = plot_hyperplane(model, X, y, [1.0, 3.0])
    w, value = np.ravel(model.coef_), float(model.decision_function([[1.0, 3.0]])[0])
    (line,) = [line for label, line in named(ax).items() if label.startswith("distance")]
    assert line.get_label() == f"distance {value / np.hypot(*w):.3g} = g(x) / |w|".replace("-", "−")
    point, foot = line.get_xydata()
    assert model.decision_function([foot])[0] == pytest.approx(0.0, abs=1e-9)
    assert np.hypot(*(point - foot)) == pytest.approx(abs(value) / np.hypot(*w))
    border = named(ax)["g(x) = 0"].get_xydata()
    np.testing.assert_allclose(model.decision_function(border), 0.0, atol=1e-9)
    with pytest.raises(ValueError, match="model and point must be of two columns"):
        plot_hyperplane(model, X, y, [1.0])


def test_rows_grow_where_earlier_rounds_of_boosting_were_wrong():
    X, y = load_iris().iloc[50:, 2:4], load_iris()["species"][50:].to_numpy()
    with record():
        model = AdaBoostClassifier(n_estimators=4, random_state=0).fit(X, y)
    figure = plot_boosting_rounds(model, X, y, rounds=(1, 3))
    first, third, whole = figure.axes
    assert whole.get_title() == "all 4 rounds"
    assert third.get_title() == f"round 3: vote {model.estimator_weights_[2]:.3g}"

    def areas_in(ax):
        return np.concatenate([dots.get_sizes() for dots in ax.collections if dots.get_label() in model.classes_])

    areas = areas_in(third)
    weight = model.trace_.states[2]["sample_weight"]
    assert np.corrcoef(areas, np.concatenate([weight[y == label] for label in model.classes_]))[0, 1] > 0.999999
    assert len(set(areas_in(first))) == 1
    with pytest.raises(ValueError, match="rounds must be of the 4 that were made, got 5"):
        plot_boosting_rounds(model, X, y, rounds=(5,))
