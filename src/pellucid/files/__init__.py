"""Model files: save, load and what can be wrong with a file."""

from pellucid.files.saving import load, save
from pellucid.kinds.pages import (
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
