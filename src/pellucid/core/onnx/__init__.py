"""Answers of fitted models as graphs of ONNX operators."""
