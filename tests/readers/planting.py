"""Damages what a reader takes, to find out whether the comparison notices."""

from damages import call_after_result, drop_result, stale_usage, wrong_parent
from inputs import inputs
from outcomes import Compacted, Red, one_line

NOT_NOTICED, NO_PLACE = "NOT NOTICED", "no input has a place for it"


def plant(reader, folder):
    """Plants every defect in every dialect, prints what came of it, and returns how many nobody noticed."""
    unnoticed = 0
    damages = [drop_result, call_after_result, *reader.damages]
    if reader.parents:
        damages.append(wrong_parent(reader.parents))
    dialects = reader.planted or reader.dialects
    for dialect in dialects:
        for damage in damages:
            name = damage.__name__
            outcome = plant_one(reader, dialect, damage, folder / dialect / name)
            missed = outcome in (NOT_NOTICED, NO_PLACE)
            if missed and name in reader.blind:
                outcome, missed = f"not red: {reader.blind[name]}", False
            print(f"  {dialect}: {name}: {outcome}", flush=True)
            unnoticed += missed
    if reader.also:
        outcome = plant_in_further_test(reader, dialects[0], folder / "also")
        print(f"  {dialects[0]}: {reader.also.__name__}: {outcome}")
        unnoticed += outcome in (NOT_NOTICED, NO_PLACE)
    return unnoticed


def plant_one(reader, dialect, damage, folder):
    """Damages one input after the other until the comparison notices."""
    missed = []
    for found in inputs([dialect], (), folder, reader.named, reader.made):
        path = found.path
        before = reader.unpaired(path, dialect)
        compacted = False
        try:
            try:
                reader.judge(path, dialect, before)
            except Compacted:
                compacted = True
            damaged = damage(path.read_bytes(), found.outlines[0])
        except Exception:  # noqa: BLE001 - refused uncut
            continue
        # In what is compacted without damage, only stale usage can be noticed.
        if damaged is None or (compacted and damage is not stale_usage):
            continue
        path.write_bytes(damaged)
        name = found.original.name
        try:
            reader.judge(path, dialect, before)
        except Exception as error:  # noqa: BLE001 - whatever the software raises
            but = f" (not red: {', '.join(missed)})" * bool(missed)
            return f"red: {name}: {type(error).__name__}: {one_line(error, 100)}{but}"
        missed.append(name)
    return NOT_NOTICED if missed else NO_PLACE


def plant_in_further_test(reader, dialect, folder):
    """Whether the reader's own test notices that a value is lost, in the first input that it takes."""
    for found in inputs([dialect], (), folder / "in", reader.named, reader.made):
        path = found.path
        try:
            reader.judge(path, dialect, reader.unpaired(path, dialect))
            reader.also(path, folder / path.parent.name)
        except Exception:  # noqa: BLE001 - refused uncut
            continue
        try:
            reader.also(path, folder / path.parent.name, lose_first)
        except Red as error:
            return f"red: {found.original.name}: {error}"
        return NOT_NOTICED
    return NO_PLACE


def lose_first(values):
    return values[1:]
