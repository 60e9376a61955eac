"""Cut LLM transcripts to size without breaking their tool calls.

The functions take the messages of one conversation; a `Curtail` takes records, iterables and tables. Both cut in this
process, as the program does: there is no second implementation.
"""

from ._curtail import Curtail, Explanation, Report
from ._errors import ArgumentError, ColumnError, CurtailError, ProgramNotFoundError, RecordError
from ._findings import Finding, Place
from ._functions import check, count, filter, limit, repair, split, verify, window
from ._program import find_program
from ._values import OnError

__all__ = [
    "ArgumentError",
    "ColumnError",
    "Curtail",
    "CurtailError",
    "Explanation",
    "Finding",
    "OnError",
    "Place",
    "ProgramNotFoundError",
    "RecordError",
    "Report",
    "check",
    "count",
    "filter",
    "find_program",
    "limit",
    "repair",
    "split",
    "verify",
    "window",
]
