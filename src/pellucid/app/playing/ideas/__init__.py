"""Ideas as plays: what no single fit shows. Each file has one, with a function of data and named parameters."""

from pellucid.app.playing.ideas.bias_and_variance import BIAS_AND_VARIANCE
from pellucid.app.playing.ideas.computation_graph import COMPUTATION_GRAPH
from pellucid.app.playing.ideas.convolution_windows import CONVOLUTION
from pellucid.app.playing.ideas.kd_tree_search import KD_TREE
from pellucid.app.playing.ideas.kmeans_starts import KMEANS_STARTS
from pellucid.app.playing.ideas.pruning import PRUNING
from pellucid.app.playing.ideas.regularization_path import LASSO_PATH, RIDGE_PATH
from pellucid.app.playing.ideas.restoration import RESTORATION
from pellucid.app.playing.ideas.roc_threshold import ROC

IDEAS = (
    LASSO_PATH,
    RIDGE_PATH,
    PRUNING,
    KMEANS_STARTS,
    KD_TREE,
    BIAS_AND_VARIANCE,
    ROC,
    CONVOLUTION,
    COMPUTATION_GRAPH,
    RESTORATION,
)
