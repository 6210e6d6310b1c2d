"""What can be wrong with a model file.

ValueError
└── ModelFileError          anything below; catch this one
    ├── NotSaveableError    the model holds something a file that cannot run code has no place for
    ├── NotAModelFileError  the file was not written by ``pellucid.save``
    ├── DamagedFileError    the file was, but has been cut short or altered since
    ├── NewerFormatError    the file was written by a later pellucid
    └── SchemaError         the file is whole, but what it describes is not a model of the registry
"""

from __future__ import annotations


class ModelFileError(ValueError):
    """A model file cannot be written or read."""


class NotSaveableError(ModelFileError):
    """The model holds something that a model file has no place for."""


class NotAModelFileError(ModelFileError):
    """The file is not a safetensors file with a pellucid document."""


class DamagedFileError(ModelFileError):
    """The file was cut short or altered after it was written."""


class NewerFormatError(ModelFileError):
    """The file uses a format that this version does not know."""


class SchemaError(ModelFileError):
    """The document or an array is not what the registry allows."""
