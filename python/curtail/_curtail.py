"""`Curtail`: a command of the program, applied to records, iterables and batches."""

from __future__ import annotations

import os
import subprocess
import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from types import TracebackType
from typing import Any, TypeVar, cast

from ._errors import ArgumentError, ProgramError, RecordError
from ._findings import Finding, findings_of
from ._process import Process, log
from ._program import find_program
from ._records import DROPPED, Line, OnError, encode, encode_all, error_of, reported, settle, words_of

T = TypeVar("T")

_COMMANDS = ("window", "limit", "filter", "repair", "summarize", "run", "check")
_REFUSED = {
    "split": "writes several records for one; run the program itself on files",
    "memory": "keeps state between runs; run the program itself",
    "store": "keeps state between runs; run the program itself",
}
_PROTOCOL = ("--framing", "records", "--on-error", "report", "--color", "never", "--progress", "never")

_live: weakref.WeakSet[Curtail] = weakref.WeakSet()


class Curtail:
    """A command with its flags, such as `Curtail(["limit", "-t", "8k"])`.

    The program starts with the first record and runs until `close`, the end of a `with` block, or the end of the
    interpreter. Records are bytes, text, or objects that `json` can write. Bytes and text are returned byte for byte as
    the program writes them. An object is written as JSON, which takes as much time as the cut; the answer contains the
    same message objects if messages were only dropped, and is parsed from JSON otherwise. An object that the cut does not
    change is returned itself. `None`, empty text and white space are not records and are returned unchanged.

    All records of a `Curtail` have one dialect, like the records of a file. An instance may be shared by threads, copied
    into other processes and inherited by a fork; each process then starts its own program.

    Args:
        args: the command and its flags, without paths, output flags, `--framing` and `--on-error`.
        program: the path of the program; by default the one that was installed with this module.
        jobs: the number of threads of the program; 0 for all cores. Use 1 where a framework runs several workers.
        restart: whether records without an answer are sent once more, to a new program, if the program is killed.

    Raises:
        ArgumentError: the command does not answer records, or the program rejects the flags.
        ProgramNotFoundError: there is no program.
    """

    def __init__(
        self, args: Iterable[str], *, program: str | None = None, jobs: int = 1, restart: bool = False
    ) -> None:
        if isinstance(args, str):
            raise ArgumentError(f"args is a list of words, such as {args.split()!r}")
        self._set(tuple(args), program, jobs, restart)
        command = self.args[0] if self.args else ""
        if command not in _COMMANDS:
            why = _REFUSED.get(command, f"is not one of {', '.join(_COMMANDS)}")
            raise ArgumentError(f"`{command}` {why}" if command else "no command; such as ['limit', '-t', '8k']")
        self._validate()

    def _set(self, args: tuple[str, ...], program: str | None, jobs: int, restart: bool) -> None:
        self.args, self.jobs, self.restart = args, jobs, restart
        self._named = program
        # Whether to let the program cut tables from files. Once it has refused one, this is not tried again.
        self._cuts_files = True
        self._program = program or find_program()
        self._lock = threading.Lock()
        self._process: Process | None = None
        self._finalizer: weakref.finalize[..., Any] | None = None
        _live.add(self)

    def one(self, record: T) -> T:
        """Cuts one record: bytes, text or an object.

        Raises:
            RecordError: the record cannot be read or cut.
            ProgramError: the program ended.
        """
        return cast(T, self._settled([record], "raise")[0])

    def map(self, records: Iterable[T], *, on_error: OnError = "raise", ahead: int = 512) -> Iterator[T]:
        """Cuts every record, in order, with a separate program that ends with the iterator.

        Args:
            records: bytes, text or objects.
            on_error: how to handle a record that fails; with `return`, its error is yielded in its place.
            ahead: how many records are read before the first answer; 1 if a record depends on the previous answer.
        """
        source = iter(records)
        first = 0
        with self._copy() as own:
            while chunk := list(islice(source, max(1, ahead))):
                yield from (answer for answer in own._settled(chunk, on_error, first) if answer is not DROPPED)
                first += len(chunk)

    def batch(self, batch: Any, column: str = "messages", *, on_error: OnError = "raise") -> Any:
        """Cuts a column of a batch; all other columns are unchanged.

        Args:
            batch: a mapping of columns (as `datasets` and Ray pass), or a `pyarrow` Table or RecordBatch.
            column: the column of transcripts: JSON text, bytes, or objects. Nulls are kept.
            on_error: how to handle a row that fails. `skip` drops the row from all columns; `return` is rejected.

        Returns:
            A batch of the same kind.
        """
        from . import _batches

        if on_error == "return":
            raise ArgumentError("a batch has no place for errors; pass on_error='raise', 'skip' or 'keep'")
        run = self._cut_file if self._cuts_files else None
        return _batches.cut(lambda records, first: self._settled(records, on_error, first, sparse=True), run, batch, column)

    def whole(self, data: T, framing: str = "lines") -> T:
        """Cuts one transcript of many lines: a log (`lines`) or a JSON document (`document`), as bytes or text.

        A program is started for each call, because only the end of its input shows that the transcript is complete.
        """
        sent = encode(data)
        done = self._run([*self.args, "--framing", framing], sent)
        if done.returncode not in (0, 1):
            raise error_of(done.returncode, words_of(done.stderr), sent)
        return cast(T, done.stdout.decode() if isinstance(data, str) else done.stdout)

    def check(self, record: Any) -> list[Finding]:
        """The findings of `curtail check` in one record.

        The flags are those of the command if it is `check`, such as `Curtail(["check", "--strict"])`, and the defaults
        otherwise.
        """
        return self.check_all([record])[0]

    def check_all(self, records: Iterable[Any]) -> list[list[Finding]]:
        """The findings of `curtail check` in each record. One program checks all of them, so duplicates are found as well."""
        lines = [encode(record).rstrip(b"\n") for record in records]
        if any(b"\n" in line for line in lines) and len(lines) > 1:
            raise ArgumentError("a record has several lines; check it alone")
        framing = "document" if any(b"\n" in line for line in lines) else "records"
        flags = self.args[1:] if self.args[0] == "check" else ()
        command = ["check", *flags, "--framing", framing, "--output-format", "json", "--exit-zero", "--allow-empty"]
        done = self._run(command, b"\n".join(lines) + b"\n")
        if done.returncode != 0:
            error = error_of(done.returncode, words_of(done.stderr), lines[0] if lines else b"")
            if isinstance(error, RecordError) and framing == "records" and error.column is not None:
                error = RecordError(error.reason, error.line - 1, error.column, lines[error.line - 1])
            raise error
        found: list[list[Finding]] = [[] for _ in lines]
        for finding in findings_of(done.stdout):
            found[finding.at.line - 1 if framing == "records" else 0].append(finding)
        return found

    @property
    def pid(self) -> int | None:
        """The process id of the program, if it is running."""
        process = self._process
        return process.pid if process is not None and process.runs() else None

    def close(self) -> None:
        """Ends the program. The next record starts another one."""
        with self._lock:
            self._stop()

    def __enter__(self) -> Curtail:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __getstate__(self) -> tuple[Any, ...]:
        return (self.args, self._named, self.jobs, self.restart)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._set(*state)

    @classmethod
    def unchecked(cls, args: Iterable[str], *, program: str | None = None, jobs: int = 1) -> Curtail:
        """A `Curtail` whose flags are known to be valid. No program is started before the first record."""
        curtail = cls.__new__(cls)
        curtail._set(tuple(args), program, jobs, False)
        return curtail

    def _copy(self) -> Curtail:
        copy = Curtail.__new__(Curtail)
        copy.__setstate__(self.__getstate__())
        return copy

    def _validate(self) -> None:
        """Runs the program without records, so that invalid flags are an error here and not at the first record."""
        checks = self.args[0] == "check"
        done = self._run([*self.args, "--framing", "records", "--allow-empty"] if checks else self._command(), b"")
        if done.returncode != 0:
            raise ArgumentError(words_of(done.stderr))
        if done.stdout and not checks:
            raise ArgumentError("with these flags, the program prints something else than records")

    def _command(self) -> list[str]:
        return [*self._threaded(), *_PROTOCOL]

    def _threaded(self) -> list[str]:
        threads = any(word.startswith(("-j", "--jobs")) for word in self.args)
        return [*self.args, *(() if threads else ("-j", str(self.jobs)))]

    def _run(self, words: Sequence[str], data: bytes) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([self._program, *words], input=data, capture_output=True, check=False)

    def _settled(
        self, records: Sequence[Any], on_error: OnError, first: int = 0, sparse: bool = False
    ) -> list[Any]:
        """The answer to each record, in the form of the record; `DROPPED` for those that are skipped."""
        lines = encode_all(records, sparse)
        return settle(records, lines, self._cut(lines), on_error, first)

    def _cut(self, lines: Sequence[Line]) -> list[Line]:
        """The answer to each line. A line may have a line end, be several lines, or be only white space."""
        if self.args[0] == "check":
            raise ArgumentError("`check` cuts nothing; use check()")
        answers: list[Line] = list(lines)
        plain: list[int] = []
        bodies: list[bytes] = []
        for index, line in enumerate(lines):
            if isinstance(line, RecordError) or not line or line.isspace():
                continue
            body = line[:-1] if line.endswith(b"\n") else line
            if b"\n" in body:
                answers[index] = self._document(line)
            else:
                plain.append(index)
                bodies.append(body)
        for index, answer in zip(plain, self._exchange(bodies)):
            ended = cast(bytes, lines[index]).endswith(b"\n")
            answers[index] = answer + b"\n" if ended and isinstance(answer, bytes) else answer
        return answers

    def _cut_file(self, old: str, new: str) -> bool:
        """Cuts an Arrow file; returns whether the program accepted it."""
        from ._files import COLUMN

        done = self._run([*self._threaded(), "--column", COLUMN, "--color", "never", "--progress", "never", old, "-o", new], b"")
        self._cuts_files = done.returncode == 0
        if self._cuts_files:
            log(done.stderr.replace(old.encode(), b"table"))
        return self._cuts_files

    def _document(self, line: bytes) -> Line:
        try:
            return self.whole(line, "document")
        except RecordError as error:
            return error

    def _exchange(self, lines: Sequence[bytes]) -> list[Line]:
        answers: list[Line] = []
        repeated = -1
        with self._lock:
            while len(answers) < len(lines):
                rest = lines[len(answers) :]
                got = self._ask(rest)
                answers += [reported(line, answer) if answer[:1] == b"!" else answer for line, answer in zip(rest, got)]
                if len(got) == len(rest):
                    break
                status, said = self._stop()
                index = len(answers)
                if status == 2:
                    # The record is longer than --max-record, or so broken that the program stopped with an error.
                    error = cast(RecordError, error_of(status, said, lines[index]))
                    error.line = 1
                    answers.append(error)
                elif self.restart and repeated < index:
                    repeated = index
                else:
                    raise ProgramError(status, said)
        return answers

    def _ask(self, lines: Sequence[bytes]) -> list[bytes]:
        if self._process is not None and not self._process.runs():
            self._stop()
        if self._process is None:
            self._process = Process([self._program, *self._command()])
            self._finalizer = weakref.finalize(self, Process.close, self._process)
        try:
            self._process.send(lines)
            return self._process.receive(len(lines))
        except BaseException:
            # Answers that were not read would be taken for answers to the next records.
            self._stop()
            raise

    def _stop(self) -> tuple[int, str]:
        process, self._process = self._process, None
        if self._finalizer is not None:
            self._finalizer.detach()
            self._finalizer = None
        return process.close() if process is not None else (0, "")

    def _forked(self) -> None:
        """Resets this in a forked child: the program belongs to the parent, one of whose threads may hold the lock."""
        self._lock = threading.Lock()
        if self._finalizer is not None:
            self._finalizer.detach()
            self._finalizer = None
        if self._process is not None:
            self._process.abandon()
            self._process = None


def _after_fork() -> None:
    for curtail in list(_live):
        curtail._forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
