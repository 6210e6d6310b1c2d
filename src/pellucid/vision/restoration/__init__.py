"""Images restored: noise, blur, missing pixels, too few pixels."""

from typing import TYPE_CHECKING

from pellucid.core.public_names import name_finder, names_without

ON_TORCH: tuple[str, ...] = ()
"""Names that need PyTorch."""

__all__ = [
    "Blur",
    "BlurDecimate",
    "DictionaryDenoising",
    "Downscale",
    "Identity",
    "Mask",
    "Restoration",
    "Tikhonov",
    "TotalVariation",
    "Wiener",
    "bicubic_resize",
    "deblur",
    "denoise",
    "estimate_sigma",
    "inpaint",
    "ksvd",
    "lasso_codes",
    "learn_dictionary",
    "mse",
    "mutual_coherence",
    "omp",
    "psnr",
    "restore",
    "ssim",
    "upscale",
]

if TYPE_CHECKING:
    from pellucid.vision.restoration.dictionaries.dictionary_denoising import DictionaryDenoising
    from pellucid.vision.restoration.dictionaries.ksvd import ksvd, learn_dictionary
    from pellucid.vision.restoration.dictionaries.sparse_coding import lasso_codes, mutual_coherence, omp
    from pellucid.vision.restoration.linear_filters import Tikhonov, Wiener
    from pellucid.vision.restoration.metrics import mse, psnr, ssim
    from pellucid.vision.restoration.noise_level import estimate_sigma
    from pellucid.vision.restoration.operators import Blur, BlurDecimate, Downscale, Identity, Mask, bicubic_resize
    from pellucid.vision.restoration.restoring import Restoration, deblur, denoise, inpaint, restore, upscale
    from pellucid.vision.restoration.total_variation.total_variation import TotalVariation

__getattr__ = name_finder(__name__)
__all__ = names_without("torch", __all__, ON_TORCH)
