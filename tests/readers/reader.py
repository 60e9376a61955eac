"""What a reader's file says about its software: how to give it a transcript, and what of it to compare."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from inputs import UNKNOWN
from judgement import compare, unpaired
from program import outlines, plain, shown_events, total_tokens

# The tokens of what an agent sends beside a conversation, and how much more its model counts than we do.
BESIDE, MARGIN = 25_000, 1.25


@dataclass
class Reader:
    """One piece of software, and the dialects that it reads."""

    load: Callable[[Path], list]
    """Gives a file to the software and returns what that holds: a list of transcripts, each a list of events. An event is
    `(role, text)`, `("call", id)` or `("result", id)`; calls without an id have the name of their tool. Raises whatever the
    software raises."""
    dialects: list[str]
    """The dialects whose fixtures it reads; of each, at least one cut must be taken."""

    # Which files are tried.

    data: Iterable[str] = ()
    """Folders below `CURTAIL_DATA` with real transcripts of these dialects."""
    made: Callable[[], Iterable] | None = None
    """Yields names and contents of files that the software itself writes, which are tried like fixtures."""
    named: str = ""
    """A regular expression: files whose name it does not match are not tried."""
    skip: dict[str, str] = field(default_factory=dict)
    """Names of further files that are not tried, each with the reason, which is printed."""

    # What of them is compared.

    adapt: Callable[[list], list] = list
    """Changes the events of `show` where the software holds a transcript differently on purpose."""
    results_last: bool = False
    """Whether the software moves the results of a message behind its texts."""
    live: bool = False
    """Whether it holds only what a model still reads, as `show --live` lists it."""

    # How it is run.

    jobs: int = 1
    """How many files are loaded at the same time."""
    window: Callable[[Path], int] | None = None
    """For an agent, which compacts what is too large: the tokens at which it compacts this file. Larger cuts are not tried."""
    also: Callable | None = None
    """A further test of each uncut file: `also(path, folder)` raises `Red`. To plant a defect, it gets a third argument, a
    function that loses the first of the values to be compared."""

    # The examples of rules, for software that validates.

    knows: set[str] | None = None
    """The rules whose bad examples it must refuse; it must accept every other example. None: it gets no examples."""
    examples: dict[str, tuple] = field(default_factory=dict)
    """Further examples that it must refuse if `knows` names them: a dialect and messages."""

    # Planted defects, which the comparison must find.

    planted: list[str] | None = None
    """The dialects whose files are damaged, by default all."""
    damages: Iterable[Callable] = ()
    """Defects beside a lost and a misplaced result: each gets bytes and outline, and returns damaged bytes, or None if it has no
    place there."""
    parents: str | None = None
    """The key with which a record names its parent, if the software follows parents: a wrong one is planted."""
    blind: dict[str, str] = field(default_factory=dict)
    """Names of defects that cannot be noticed, each with the reason, which is printed."""

    def reason_to_skip(self, name):
        """Why the file of this name is not tried, or None."""
        return (UNKNOWN | self.skip).get(name)

    def held(self, path):
        """The events that the software holds, without empty texts and transcripts."""
        transcripts = [[event for event in events if plain(event[1])] for events in self.load(path)]
        return [events for events in transcripts if events]

    def shown(self, path, dialect):
        """The events that the program shows, without empty transcripts."""
        found = outlines(path, dialect, self.live)
        transcripts = [self.adapt(shown_events(outline, self.results_last)) for outline in found]
        return [events for events in transcripts if events]

    def unpaired(self, path, dialect):
        """The unpaired calls and results of a file before it is cut."""
        return unpaired(self.shown(path, dialect))

    def judge(self, path, dialect, before):
        """Raises `Red` unless the software holds what is shown, and all pairs but those unpaired `before`; or what it raises."""
        held = self.held(path)
        compare(self.shown(path, dialect), held, before)

    def fits(self, path):
        """Whether an agent has room for a file, and for what it sends beside it, before it compacts."""
        return not self.window or total_tokens(path) * MARGIN + BESIDE <= self.window(path)
