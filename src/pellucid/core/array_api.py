"""The array API over NumPy, torch and others: the copy of array-api-compat that scikit-learn brings."""

from sklearn.externals.array_api_compat import (
    array_namespace,
    device,
    is_array_api_obj,
    is_cupy_array,
    is_torch_array,
)

__all__ = ["array_namespace", "device", "is_array_api_obj", "is_cupy_array", "is_torch_array"]
