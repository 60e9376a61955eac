"""One conversation, which software writes in its own form: calls side by side, one that fails, thoughts, a picture."""

from dataclasses import dataclass, field


@dataclass
class Call:
    id: str
    name: str
    arguments: dict
    result: str
    failed: bool = False


@dataclass
class Turn:
    asked: str
    answer: str
    thought: str = ""
    said: str = ""
    calls: list = field(default_factory=list)


SYSTEM = "You keep the lighthouse on the rock, and answer in one sentence."
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
TURNS = [
    Turn(
        "Is the lamp lit, and does the horn sound?",
        "The lamp is lit, and the horn is silent.",
        "The lamp room tells, and the horn house too; both can be asked at once.",
        "I look at both of them.",
        [
            Call("call_1", "look", {"at": "lamp"}, "The lamp is lit and turns once in nine seconds."),
            Call("call_2", "look", {"at": "horn", "from": None}, "The horn is silent because the night is clear."),
        ],
    ),
    Turn(
        "How high is the tide at the landing?",
        "The gauge does not answer tonight.",
        "Only the gauge at the landing knows how high the tide is.",
        "",
        [Call("call_3", "read_gauge", {"place": "landing"}, "Error: the gauge at the landing does not answer.", True)],
    ),
    Turn("Who swept the stairs?", "The keeper's brother did, before the supply boat came."),
    Turn(
        "Look again, and tell me what changed.",
        "Nothing changed since the first look.",
        said="I look once more.",
        calls=[Call("call_4", "look", {"at": "lamp"}, "The lamp is lit and turns once in nine seconds.")],
    ),
]
