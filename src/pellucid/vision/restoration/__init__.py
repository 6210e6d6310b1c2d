"""Images restored: noise, blur, missing pixels, too few pixels."""

from typing import TYPE_CHECKING

from pellucid.core.public_names import name_finder, names_without

ON_TORCH = ("BiasFreeDnCNN", "DeconvolutionNetwork", "DnCNN", "SRCNN", "filter_behind", "verify_table")
"""Names that need PyTorch."""

__all__ = [
    "BM3D",
    "SRCNN",
    "BiasFreeDnCNN",
    "Bicubic",
    "Blur",
    "BlurDecimate",
    "DCTThresholding",
    "DeconvolutionNetwork",
    "DictionaryDenoising",
    "DnCNN",
    "Downscale",
    "Identity",
    "Mask",
    "NonLocalMeans",
    "PlugAndPlay",
    "Restoration",
    "Tikhonov",
    "TotalVariation",
    "WaveletThresholding",
    "Wiener",
    "bicubic_resize",
    "compare_methods",
    "deblur",
    "denoise",
    "estimate_kernel",
    "estimate_sigma",
    "filter_behind",
    "inpaint",
    "ksvd",
    "lasso_codes",
    "learn_dictionary",
    "mse",
    "mutual_coherence",
    "omp",
    "psnr",
    "restore",
    "show_omp",
    "show_psnr",
    "show_soft_threshold",
    "show_sure",
    "show_total_variation",
    "show_wiener",
    "ssim",
    "upscale",
    "verify_table",
]

if TYPE_CHECKING:
    from pellucid.vision.restoration.blind import estimate_kernel
    from pellucid.vision.restoration.bm3d.bm3d import BM3D
    from pellucid.vision.restoration.choosing import compare_methods
    from pellucid.vision.restoration.dictionaries.dictionary_denoising import DictionaryDenoising
    from pellucid.vision.restoration.dictionaries.ksvd import ksvd, learn_dictionary
    from pellucid.vision.restoration.dictionaries.sparse_coding import lasso_codes, mutual_coherence, omp
    from pellucid.vision.restoration.enlarging import Bicubic
    from pellucid.vision.restoration.linear_filters import Tikhonov, Wiener
    from pellucid.vision.restoration.metrics import mse, psnr, ssim
    from pellucid.vision.restoration.networks.network_methods import SRCNN, BiasFreeDnCNN, DeconvolutionNetwork, DnCNN
    from pellucid.vision.restoration.networks.pixel_filter import filter_behind
    from pellucid.vision.restoration.networks.tables import verify_table
    from pellucid.vision.restoration.noise_level import estimate_sigma
    from pellucid.vision.restoration.non_local_means.non_local_means import NonLocalMeans
    from pellucid.vision.restoration.operators import Blur, BlurDecimate, Downscale, Identity, Mask, bicubic_resize
    from pellucid.vision.restoration.plug_and_play import PlugAndPlay
    from pellucid.vision.restoration.restoring import Restoration, deblur, denoise, inpaint, restore, upscale
    from pellucid.vision.restoration.thresholding.dct_thresholding import DCTThresholding
    from pellucid.vision.restoration.thresholding.wavelet_thresholding import WaveletThresholding
    from pellucid.vision.restoration.total_variation.total_variation import TotalVariation
    from pellucid.vision.restoration.workings.matching_pursuit_workings import show_omp
    from pellucid.vision.restoration.workings.threshold_workings import show_psnr, show_soft_threshold, show_sure
    from pellucid.vision.restoration.workings.total_variation_workings import show_total_variation
    from pellucid.vision.restoration.workings.wiener_workings import show_wiener

__getattr__ = name_finder(__name__)
__all__ = names_without("torch", __all__, ON_TORCH)
