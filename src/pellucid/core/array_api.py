"""The array API over NumPy, torch and others: the installed array-api-compat, or the copy that scikit-learn brings."""

try:
    from array_api_compat import array_namespace, device, is_array_api_obj, is_torch_array, to_device
except ImportError:
    from sklearn.externals.array_api_compat import (
        array_namespace,
        device,
        is_array_api_obj,
        is_torch_array,
        to_device,
    )

__all__ = ["array_namespace", "device", "is_array_api_obj", "is_torch_array", "to_device"]
