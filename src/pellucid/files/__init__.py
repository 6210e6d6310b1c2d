"""Model files: save, load and what can be wrong with a file."""

from pellucid.files.errors import (
    DamagedFileError,
    ModelFileError,
    NewerFormatError,
    NotAModelFileError,
    NotSaveableError,
    SchemaError,
)
from pellucid.files.reading import load
from pellucid.files.writing import save

__all__ = [
    "DamagedFileError",
    "ModelFileError",
    "NewerFormatError",
    "NotAModelFileError",
    "NotSaveableError",
    "SchemaError",
    "load",
    "save",
]
