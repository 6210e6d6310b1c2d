"""Model files: save, load and what can be wrong with a file."""

from pellucid.core.files.saving import load, save
from pellucid.core.kinds.pages import (
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
