"""The cuts that each input gets."""

from pathlib import Path

from program import curtail, total_tokens

NOTE = Path(__file__).with_name("note.txt")


def cuts(path, outline):
    """The arguments of every cut to try."""
    tokens = total_tokens(path)
    for strategy in ("history", "sliding"):
        for size in (1, 10, 40):
            yield ["window", "-n", size, "--strategy", strategy]
    for share in (4, 2, 1.3):
        yield ["limit", "-t", max(1, int(tokens / share)), "--on-overflow", "keep-newest"]
    for strategy in ("history", "sliding"):
        yield ["window", "-n", 2, "--strategy", strategy, "--pin", "first-user"]
    yield ["window", "-n", 2, "--pin", "none"]
    yield ["window", "-n", 3, "--step", 2]
    yield ["window", "-n", 1, "--unit", "turns"]
    yield ["window", "-n", 2, "--unit", "turns", "--strategy", "sliding"]
    yield ["limit", "-t", max(1, tokens // 4), "--on-overflow", "truncate"]
    yield ["limit", "-t", max(1, tokens // 2), "--on-overflow", "keep-newest", "--pin", "first-user"]
    yield ["limit", "-t", max(1, tokens // 2), "--on-overflow", "keep-newest", "--step", max(1, tokens // 8)]
    tool = first_tool(outline)
    yield ["filter", "-x", tool]
    yield ["filter", "-x", tool, "--persist-results"]
    yield ["filter", "--strip", "reasoning"]
    yield ["filter", "--keep-last-results", 1]
    yield ["filter", "--keep-last-results", 2, "--step", 2]
    yield ["filter", "--keep-last-results", 0, "--clear-tool", tool]
    yield ["filter", "--keep-last-results", 1, "--clear-inputs"]
    yield ["filter", "--cap-result", 32]
    yield ["filter", "--keep-last-media", 0]
    yield ["filter", "--keep-last-media", 1]
    yield ["filter", "--drop-turn", "1"]
    yield ["filter", "--dedupe-results"]
    yield ["summarize", "-n", 2]
    for mode in ("drop", "stub", "move"):
        yield ["repair", "--mode", mode]
    yield ["memory", "recall", "--state", NOTE]
    yield ["memory", "apply", "--state", NOTE]
    yield ["split", "-t", max(1, int(tokens / 2)), "--on-overflow", "keep"]
    for name in curtail("run", "--list-presets").decode().splitlines():
        yield ["run", "--preset", name.split()[0]]


def first_tool(outline):
    """The name of the first tool of a transcript, or a pattern for every name."""
    parts = (part for item in outline["items"] for part in item.get("message", {}).get("parts", []))
    return next((part["name"] for part in parts if part.get("name")), "*")


def cut(arguments, path, folder):
    """The files that a cut writes; of `memory apply`, which prints a state, what recalls that state."""
    folder.mkdir(parents=True)
    if arguments[:2] == ["memory", "apply"]:
        state = folder.with_suffix(".state")
        state.write_bytes(curtail(*arguments, path))
        arguments = ["memory", "recall", "--state", state]
    curtail(*arguments, "-O", folder, path)
    return sorted(file for file in folder.rglob("*") if file.is_file())
