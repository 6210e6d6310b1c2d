"""Models for other programs: ONNX graphs, and back again."""

from pellucid.core.onnx.graph import NotExportableError
from pellucid.export.from_onnx import from_onnx
from pellucid.export.skl2onnx_converters import register_skl2onnx
from pellucid.export.to_onnx import to_onnx

__all__ = ["NotExportableError", "from_onnx", "register_skl2onnx", "to_onnx"]
