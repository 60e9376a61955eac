"""Cut LLM transcripts to size without breaking their tool calls.

A `Curtail` runs the program `curtail` as a separate process and sends records through pipes. There is no second
implementation: it returns what the program writes.
"""

from ._curtail import Curtail
from ._errors import ArgumentError, CurtailError, ProgramError, ProgramNotFoundError, RecordError
from ._findings import Finding, Place
from ._program import find_program
from ._records import OnError

__all__ = [
    "ArgumentError",
    "Curtail",
    "CurtailError",
    "Finding",
    "OnError",
    "Place",
    "ProgramError",
    "ProgramNotFoundError",
    "RecordError",
    "find_program",
]
