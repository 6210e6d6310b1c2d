"""Model files: save, load and what can be wrong with a file."""

from pellucid.files.reading import load
from pellucid.files.writing import save
from pellucid.kinds.errors import (
    DamagedFileError,
    ModelFileError,
    NewerFormatError,
    NotAModelFileError,
    NotSaveableError,
    SchemaError,
)

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
