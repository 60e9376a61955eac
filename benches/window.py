"""What scripts do without `curtail`: keeps the last 40 messages of every record, even if that breaks tool pairs.

Usage: window.py json|orjson FILE
"""

import sys

if sys.argv[1] == "orjson":
    from orjson import dumps, loads
else:
    from json import loads

    from json import dumps as to_text

    def dumps(value):
        return to_text(value, ensure_ascii=False).encode()


with open(sys.argv[2], "rb") as lines:
    for line in lines:
        record = loads(line)
        messages = record["messages"]
        head = [message for message in messages[:-40] if message["role"] == "system"]
        record["messages"] = head + messages[-40:]
        sys.stdout.buffer.write(dumps(record) + b"\n")
