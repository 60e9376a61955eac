"""The program as a co-process: it answers records in order, through pipes that cannot block each other."""

from __future__ import annotations

import contextlib
import logging
import os
import subprocess
import threading
from collections import deque
from collections.abc import Sequence

logger = logging.getLogger("curtail")

# Records are written in pieces of about this many bytes, so that the program works while Python joins the next ones.
_PIECE = 256 * 1024
# The size of a pipe in bytes, if the system allows it: whenever a pipe is full, the processes wait for each other.
_PIPE = 1 << 20
# The number of lines of standard error that an exception can quote.
_REMEMBERED = 20
# The seconds that the program may take to exit after the end of its input.
_EXIT_TIMEOUT = 5.0


class _Answers:
    """The output of the program so far. A thread reads it, so that writing records never waits for reading answers."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._chunks: list[bytes] = []
        self._lines = 0
        self._wanted = 0
        self._ended = False

    def read(self, descriptor: int) -> None:
        """Reads until the end. This is the work of the thread."""
        while True:
            try:
                chunk = os.read(descriptor, 1 << 20)
            except OSError:
                chunk = b""
            with self._changed:
                self._ended = not chunk
                if chunk:
                    self._chunks.append(chunk)
                    self._lines += chunk.count(b"\n")
                if self._ended or self._lines >= self._wanted:
                    self._changed.notify()
            if not chunk:
                return

    def take(self, count: int) -> list[bytes]:
        """The next `count` lines without line ends, or fewer if the program ended."""
        with self._changed:
            self._wanted = count
            self._changed.wait_for(lambda: self._ended or self._lines >= count)
            data = b"".join(self._chunks)
            lines = data.split(b"\n", count)
            rest = lines.pop()
            self._chunks = [rest] if rest else []
            self._lines -= len(lines)
            return lines


class Process:
    """A running program."""

    def __init__(self, command: Sequence[str]) -> None:
        self._popen = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
        )
        assert self._popen.stdin and self._popen.stdout and self._popen.stderr
        self._stdin, self._stdout, self._stderr = self._popen.stdin, self._popen.stdout, self._popen.stderr
        for pipe in (self._stdin, self._stdout):
            _widen(pipe.fileno())
        self._answers = _Answers()
        self._said: deque[str] = deque(maxlen=_REMEMBERED)
        # Neither thread refers to this object, so that it can be collected while they wait.
        self._threads = [
            threading.Thread(target=self._answers.read, args=(self._stdout.fileno(),), daemon=True),
            threading.Thread(target=_listen, args=(self._stderr.fileno(), self._said), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    @property
    def pid(self) -> int:
        """The process id of the program."""
        return self._popen.pid

    def runs(self) -> bool:
        """Whether it has not ended yet."""
        return self._popen.poll() is None

    def send(self, records: Sequence[bytes]) -> None:
        """Writes records, each without a line end. If the program no longer reads them, `receive` returns fewer answers."""
        begin, size = 0, 0
        for end, record in enumerate(records, 1):
            size += len(record) + 1
            if size >= _PIECE or end == len(records):
                if not self._write(b"\n".join(records[begin:end]) + b"\n"):
                    return
                begin, size = end, 0

    def receive(self, count: int) -> list[bytes]:
        """The answers to the next `count` records; fewer if the program ended."""
        return self._answers.take(count)

    def _write(self, data: bytes) -> bool:
        view = memoryview(data)
        while view:
            try:
                view = view[self._stdin.write(view) :]
            except (BrokenPipeError, OSError):
                return False
        return True

    def close(self) -> tuple[int, str]:
        """Ends the program, and returns its exit status and its last lines on standard error."""
        try:
            self._stdin.close()
        except OSError:
            pass
        try:
            self._popen.wait(_EXIT_TIMEOUT)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            self._popen.wait()
        for thread in self._threads:
            thread.join(_EXIT_TIMEOUT)
        self._stdout.close()
        self._stderr.close()
        return self._popen.returncode, "\n".join(self._said)

    def abandon(self) -> None:
        """Closes this process's ends of the pipes: after a fork, the program belongs to the parent."""
        for stream in (self._stdin, self._stdout, self._stderr):
            try:
                stream.close()
            except OSError:
                pass
        # The parent waits for the program. Without a status here, Python would print a warning.
        self._popen.returncode = 0


def _widen(pipe: int) -> None:
    """Enlarges a pipe, except on systems other than Linux or if the user has too many large pipes."""
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE)


def _listen(descriptor: int, said: deque[str]) -> None:
    """Logs what the program writes to standard error, and remembers the last lines."""
    with open(descriptor, "rb", closefd=False) as stream:
        try:
            for line in stream:
                said.append(_log_line(line))
        except (OSError, ValueError):
            return


def log(said: bytes) -> None:
    """Logs what a program wrote to standard error, once it has ended."""
    for line in said.splitlines():
        _log_line(line)


def _log_line(line: bytes) -> str:
    text = line.decode("utf-8", "backslashreplace").rstrip("\n").removeprefix("curtail: ")
    logger.warning("%s", text)
    return text
