"""`Curtail`: a command applied to records, iterables and batches."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from types import TracebackType
from typing import Any, TypeVar, cast

from ._errors import ArgumentError, ProgramNotFoundError
from ._findings import Finding, findings_of
from ._load import native
from ._program import find_program
from ._values import DROPPED, OnError, Rows, check_on_error, failure, settle

T = TypeVar("T")

logger = logging.getLogger("curtail")

_COMMANDS = ("window", "limit", "filter", "repair", "summarize", "run", "split", "check")
_STATE = "keeps state between runs; run the program itself"
_REFUSED = {"memory": _STATE, "store": _STATE}


@dataclass(frozen=True)
class Explanation:
    """What was decided about a message.

    Attributes:
        message: the number of the message, from 0; `None` if it is new.
        policy: the policy that decided.
        subject: the message in words.
        outcome: what was done, and why.
    """

    message: int | None
    policy: str
    subject: str
    outcome: str


@dataclass(frozen=True)
class Report:
    """What a cut does to a record.

    Attributes:
        messages_before: the number of messages before.
        messages_after: the number of messages after.
        tokens_before: the number of tokens before; 0 if the command does not count tokens.
        tokens_after: the number of tokens after.
        explanations: what was decided, in order; messages that are kept unchanged are left out, unless a policy kept them.
    """

    messages_before: int
    messages_after: int
    tokens_before: int
    tokens_after: int
    explanations: tuple[Explanation, ...]


class Notes:
    """Logs every note once, with the record that it was about first."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def log(self, notes: Iterable[tuple[int, int, int, str]], numbers: Sequence[int]) -> None:
        for index, line, _, note in notes:
            if note not in self._known:
                self._known.add(note)
                logger.warning("record %d%s: %s", numbers[index], f", line {line}" if line > 1 else "", note)


def command_of(words: tuple[str, ...], explain: bool = False) -> native.Command:
    """The command with these words, with the files that they name as they are now.

    Raises:
        ArgumentError: the words are no such command.
    """
    _name_program(words)
    try:
        command = native.Command(list(words), explain)
    except ValueError as error:
        raise ArgumentError(str(error)) from None
    # What is explained was said when the command was made.
    for remark in () if explain else command.remarks:
        logger.warning("%s: %s", words[0], remark)
    return command


def _name_program(words: tuple[str, ...]) -> None:
    """Names the program, which renders chat templates in a process of its own: those of flags, and of configuration files."""
    has_template = any(word.startswith("--template") for word in words)
    if not has_template and words[0] != "run":
        return
    try:
        native.set_program(find_program())
    except ProgramNotFoundError:
        # Few configuration files name a template. One that does is an error that says so.
        if has_template:
            raise


class Curtail:
    """A command with its flags, such as `Curtail(["limit", "-t", "8k"])`.

    Records are bytes, text, or objects that `json` can write. Bytes and text are returned byte for byte as the program writes
    them. An object that the cut does not change is returned itself, and of one that it changes, all messages that it keeps
    are the same objects. `None`, empty text and white space are not records and are returned unchanged.

    All records of a `Curtail` have one dialect, like the records of a file. An instance may be shared by threads, copied
    into other processes and inherited by a fork.

    Args:
        args: the command and its flags, without paths and without flags of outputs and reports.
        jobs: the number of threads that cut; 0 for all cores. Use 1 where a framework runs several workers.

    Raises:
        ArgumentError: the command does not answer records, or a flag is wrong.
    """

    def __init__(self, args: Iterable[str], *, jobs: int = 1) -> None:
        if isinstance(args, str):
            raise ArgumentError(f"args is a list of words, such as {args.split()!r}")
        self.args, self.jobs = tuple(map(str, args)), jobs
        if jobs < 0:
            raise ArgumentError(f"jobs is a number of threads, or 0 for all cores, not {jobs}")
        name = self.args[0] if self.args else ""
        if name not in _COMMANDS:
            why = _REFUSED.get(name, f"is not one of {', '.join(_COMMANDS)}")
            raise ArgumentError(f"`{name}` {why}" if name else "no command; such as ['limit', '-t', '8k']")
        self._begin(command_of(self.args))

    def _begin(self, command: native.Command) -> None:
        self._command, self._reader, self._notes = command, native.Reader(command), Notes()

    def one(self, record: T) -> T:
        """Cuts one record: bytes, text or an object. With `split`, the answer is a list of records.

        Raises:
            RecordError: the record cannot be read or cut.
        """
        return cast(T, self._settled([record], "raise", [0])[0])

    def map(self, records: Iterable[T], *, on_error: OnError = "raise", ahead: int = 512) -> Iterator[T]:
        """Cuts every record, in order. With `split`, the records that it becomes follow each other.

        Args:
            records: bytes, text or objects.
            on_error: how to handle a record that fails; with `return`, its error is yielded in its place.
            ahead: how many records are read before the first answer; 1 if a record depends on the previous answer.
        """
        if isinstance(records, (str, bytes, Mapping)):
            raise TypeError("map takes an iterable of records, such as an open file, and this is one value: use one()")
        check_on_error(on_error)
        self._cuts()
        own = Curtail.__new__(Curtail)
        own.args, own.jobs = self.args, self.jobs
        own._begin(self._command)
        return own._answers(iter(records), on_error, max(1, ahead))

    def _answers(self, source: Iterator[T], on_error: OnError, ahead: int) -> Iterator[T]:
        first = 0
        while chunk := list(islice(source, ahead)):
            for answer in self._settled(chunk, on_error, range(first, first + len(chunk))):
                if isinstance(answer, Rows):
                    yield from answer
                elif answer is not DROPPED:
                    yield answer
            first += len(chunk)

    def batch(self, batch: Any, column: str = "messages", *, on_error: OnError = "raise") -> Any:
        """Cuts a column of a batch; all other columns are unchanged. With `split`, a row becomes several.

        Args:
            batch: a mapping of columns (as `datasets` and Ray pass), or a table of `pyarrow` or of another library with the
                Arrow interface, which becomes a `pyarrow.Table`.
            column: the column of transcripts: JSON text, bytes, or objects. Nulls are kept.
            on_error: how to handle a row that fails. `skip` drops the row from all columns; `return` is rejected.

        Returns:
            A batch of the same kind.
        """
        from . import _batches

        check_on_error(on_error)
        if on_error == "return":
            raise ArgumentError("a batch has no place for errors; pass on_error='raise', 'skip' or 'keep'")
        return _batches.cut(_Cut(self, on_error), batch, column)

    def whole(self, data: T, framing: str = "lines") -> T:
        """Cuts one transcript of many lines: a log (`lines`) or a JSON document (`document`), as bytes or text.

        Raises:
            RecordError: the transcript cannot be read or cut, or `split` makes several of it.
        """
        self._cuts()
        answer, notes = native.Reader(self._command).whole(data, framing)
        self._notes.log(notes, [0])
        return cast(T, settle([data], [answer], "raise", [0])[0])

    def explain(self, record: Any) -> Report:
        """What the cut does to a record, and why.

        Raises:
            RecordError: the record cannot be read or cut.
        """
        self._cuts()
        found = native.Reader(command_of(self.args, True)).explain(record)
        if isinstance(found, native.Failed):
            raise failure(found, 0)
        messages, tokens, decisions = found
        explanations = tuple(Explanation(*decision) for decision in decisions)
        return Report(messages[0], messages[1], tokens[0], tokens[1], explanations)

    def check(self, record: Any) -> list[Finding]:
        """The findings of `curtail check` in one record.

        The flags are those of the command if it is `check`, such as `Curtail(["check", "--strict"])`, and the defaults
        otherwise.
        """
        return self.check_all([record])[0]

    def check_all(self, records: Iterable[Any]) -> list[list[Finding]]:
        """The findings of `curtail check` in each record; with `--warn duplicate-transcript`, duplicates among them as well."""
        command = self._command if self.args[0] == "check" else command_of(("check",))
        found: list[list[Finding]] = []
        for index, report in enumerate(native.Reader(command).check(list(records))):
            if isinstance(report, native.Failed):
                raise failure(report, index)
            found.append(findings_of(report))
        return found

    def __enter__(self) -> Curtail:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """There is nothing to close."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (_again, (self.args, self.jobs))

    def _cuts(self) -> None:
        if self._command.does == "check":
            raise ArgumentError("`check` cuts nothing; use check()")

    def _cut_array(self, array: Any, first: int) -> native.Cut:
        self._cuts()
        found = native.cut_array(self._reader, array, self.jobs)
        self._notes.log(found[3], range(first, first + len(array)))
        return found

    def _settled(
        self, records: Sequence[Any], on_error: OnError, numbers: Sequence[int], sparse: bool = False
    ) -> list[Any]:
        """The answer to each record; `DROPPED` for those that are skipped, and `Rows` for those that are split."""
        self._cuts()
        answers, notes = self._reader.cut(list(records), sparse, self.jobs)
        if notes:
            self._notes.log(notes, numbers)
        if self._command.does == "split":
            answers = [Rows(answer) if type(answer) is list else answer for answer in answers]
        return settle(records, answers, on_error, numbers)


class _Cut:
    """How a batch is cut."""

    def __init__(self, curtail: Curtail, on_error: OnError) -> None:
        self._curtail, self.on_error = curtail, on_error

    def records(self, records: Sequence[Any], numbers: Sequence[int]) -> list[Any]:
        return self._curtail._settled(records, self.on_error, numbers, sparse=True)

    def array(self, array: Any, first: int) -> native.Cut:
        return self._curtail._cut_array(array, first)


def _again(args: tuple[str, ...], jobs: int) -> Curtail:
    return Curtail(args, jobs=jobs)
