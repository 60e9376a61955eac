"""Gives the examples of rules to software that validates: it must refuse the bad ones of rules that it knows, and no others."""

import re

from outcomes import Red, one_line
from program import ROOT, outlines
from records import lines


def judge_rules(reader, folder):
    """How many examples the software judges as the program does, and the others, each described."""
    folder.mkdir(parents=True)
    agreed, red = 0, []
    for name, (dialect, examples) in rule_examples(reader.examples).items():
        for kind, text in examples.items():
            path = folder / f"{name}.{kind}.jsonl"
            path.write_text(text)
            if (dialect or detected(path)) not in reader.dialects:
                continue
            refusal = refused(reader, path)
            if bool(refusal) == (kind == "bad" and name in reader.knows):
                agreed += 1
            else:
                red.append(f"{name}: the {kind} example is {'refused: ' + refusal if refusal else 'accepted'}")
    return agreed, red


def rule_examples(more):
    """The bad and the good example of each rule, from its page, and `more` of a dialect: name, dialect or None, and texts. What
    is not JSON on purpose is left out."""
    found = {}
    for page in sorted((ROOT / "docs/rules").glob("*.md")):
        blocks = re.findall(r"^## (Bad|Good)\n.*?```jsonl\n(.*?)```", page.read_text(), re.M | re.S)
        if blocks and page.stem not in ("invalid-json", "nothing-read"):
            found[page.stem] = (None, {kind.lower(): text for kind, text in blocks})
    return found | {name: (dialect, {"bad": lines(messages)}) for name, (dialect, messages) in more.items()}


def detected(path):
    """The dialect that the program detects, or None."""
    try:
        found = outlines(path)
    except Red:
        return None
    return found[0]["dialect"] if found else None


def refused(reader, path):
    """Why the software refuses a file, or None."""
    try:
        reader.load(path)
    except Exception as error:  # noqa: BLE001 - whatever the software raises
        return f"{type(error).__name__}: {one_line(error, 160)}"
    return None
