"""Tokens and labels of rows that `curtail split --mark train_on` wrote: everything but the targets has the label -100.

    examples = (labeled(tokenizer, row) for row in rows if row["train_on"])

A prefix of a conversation that is rendered alone is not always a prefix of the whole: templates drop earlier reasoning, and
treat the last message in another way. So the whole row is rendered, and once more with marks in place of all texts, which
say where each message is. What the model writes of it is what the template marks with {% generation %}. In a template
without such marks, it is what follows the beginning of a reply, up to the token that ends one.
"""

import json
import re
from itertools import groupby

TEXTS = {"content", "reasoning_content", "reasoning", "thinking"}


def labeled(tokenizer, row, objects=True):
    """Token ids and labels. `objects` parses the arguments of calls, which most templates take as objects; those of
    DeepSeek V3 and R1 take texts."""
    messages, tools = row["messages"], row.get("tools")
    messages = [with_objects(message) for message in messages] if objects else messages
    tokens, owners = rendered(tokenizer, messages, tools)
    parts = generated(tokenizer, messages, tools, tokens)
    edges = habits(tokenizer) if parts is None and row["train_on"] else None
    labels = [-100] * len(tokens)
    for target in row["train_on"]:
        around(owners, target)
        if parts is None:
            places = list(reply(tokenizer, tokens, owners, target, *edges))
        else:
            places = [at for part in parts if any(owners[at] == target for at in part) for at in part]
        assert places, f"the template does not mark message {target} with generation"
        assert all(owners[at] in (target, None) for at in places), f"message {target} is not apart from others"
        for at in places:
            labels[at] = tokens[at]
    return {"input_ids": tokens, "labels": labels}


def generated(tokenizer, messages, tools, tokens):
    """The tokens that the template marks with generation, as lists of places; None if it has no such marks."""
    if not re.search(r"{%-?\s*generation", tokenizer.get_chat_template(tools=tools)):
        return None
    whole = tokenizer.apply_chat_template(messages, tools=tools, return_dict=True, return_assistant_tokens_mask=True)
    assert whole["input_ids"] == tokens
    return [[at for at, _ in part] for mask, part in groupby(enumerate(whole["assistant_masks"]), lambda token: token[1]) if mask]


def with_objects(message):
    calls = [call | {"function": dict(call["function"])} for call in message.get("tool_calls") or ()]
    for function in (call["function"] for call in calls):
        if isinstance(function["arguments"], str):
            function["arguments"] = json.loads(function["arguments"])
    return message | {"tool_calls": calls} if calls else message


# Where each message is


def rendered(tokenizer, messages, tools=None):
    """The tokens of a conversation, and for each the number of the message whose text it is, or None."""
    render = lambda messages: tokenizer.apply_chat_template(messages, tools=tools, tokenize=False)
    text, marks = render(messages), render([disguised(at, message) for at, message in enumerate(messages)])
    assert len(text) == len(marks), "the template renders other texts in another way"
    owners, names = [None] * len(text), [len(message.get("tool_calls") or ()) for message in messages]
    for place, (shown, mark) in enumerate(zip(text, marks)):
        if 0 <= (at := ord(mark) - 0xE000) < len(messages):
            owners[place] = at
        elif 0 <= (at := ord(mark) - 0xF0000) < len(messages):
            # A template may repeat the name of a tool, such as before its result: that is not of this message.
            names[at] -= marks[place - 1] != mark
            owners[place] = at if names[at] >= 0 else None
        else:
            assert shown == mark, "the template renders other texts in another way"
    tokens = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    owner = lambda start, end: next((at for at in owners[start:end] if at is not None), None)
    return tokens["input_ids"], [owner(*span) for span in tokens["offset_mapping"]]


def disguised(at, message):
    """A message with marks in place of its texts, and others in place of the names of its tools. Both say its number."""
    text, name = chr(0xE000 + at), chr(0xF0000 + at)
    message = message | {key: hidden(message[key], text) for key in TEXTS & message.keys()}
    if message.get("tool_calls"):
        functions = [dict(call["function"]) for call in message["tool_calls"]]
        for function in functions:
            function["name"] = re.sub(".", name, function["name"])
            function["arguments"] = hidden(function["arguments"], text)
        message["tool_calls"] = [call | {"function": function} for call, function in zip(message["tool_calls"], functions)]
    return message


def hidden(value, mark):
    """A value with `mark` in place of every character of its texts but tags, and those that JSON escapes or that are white space."""
    if isinstance(value, str):
        return re.sub(r'(</?\w+>|[\s"\\\x00-\x1f])|.', lambda found: found[1] or mark, value)
    if isinstance(value, list):
        return [hidden(item, mark) for item in value]
    if isinstance(value, dict) and "type" in value:
        return value | {key: hidden(item, mark) for key, item in value.items() if key in ("text", "content")}
    if isinstance(value, dict):
        return {key: hidden(item, mark) for key, item in value.items()}
    return value


def around(owners, at):
    """Where the texts of a message begin and end, and where those of others beside it do: four places among the tokens."""
    own = [place for place, owner in enumerate(owners) if owner == at]
    assert own, f"the template leaves out message {at}"
    first, last = own[0], own[-1] + 1
    assert all(owner in (at, None) for owner in owners[first:last]), f"the texts of message {at} are not in one place"
    before = next((place + 1 for place in range(first - 1, -1, -1) if owners[place] is not None), 0)
    after = next((place for place in range(last, len(owners)) if owners[place] is not None), len(owners))
    return before, first, last, after


# What the model writes, if the template does not say it


def reply(tokenizer, tokens, owners, at, header, ends):
    """The places of a message from the end of its header to the end of its turn."""
    before, first, last, after = around(owners, at)
    special = set(tokenizer.get_added_vocab().values())
    # History may have less than what the template writes before a new reply, such as no empty thought.
    whole = [length for length, token in enumerate(header, 1) if token in special or tokenizer.decode([token]).endswith("\n")]
    headers = [header[:length] for length in {*whole, len(header)}]
    starts = [place for place in range(before, first + 1) for header in headers if tokens[max(before, place - len(header)) : place] == header]
    end = max((place + 1 for place in range(last, after) if tokens[place] in ends), default=None)
    assert end, f"no token ends message {at}: mark what the model writes with generation in the template"
    return range(max(starts, default=first), end)


def habits(tokenizer):
    """The tokens that the template writes before a reply, and those that end one."""
    chat = [{"role": role, "content": "Yes"} for role in ("user", "assistant")] * 2
    without, with_prompt = (tokenizer.apply_chat_template(chat[:1], return_dict=False, add_generation_prompt=prompt) for prompt in (False, True))
    same = next((at for at, (one, other) in enumerate(zip(without, with_prompt)) if one != other), len(without))
    tokens, owners = rendered(tokenizer, chat)
    special = set(tokenizer.get_added_vocab().values())
    inner, final = ([token for token in tokens[slice(*around(owners, at)[2:])] if token in special] for at in (1, 3))
    return with_prompt[same:], {*inner[:1], *final}
