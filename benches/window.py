"""What a script does today: the last 40 messages of every record, whole pairs not considered. Usage: window.py json|orjson FILE"""

import sys

if sys.argv[1] == "orjson":
    from orjson import dumps, loads
else:
    from json import loads

    from json import dumps as spell

    def dumps(value):
        return spell(value, ensure_ascii=False).encode()


with open(sys.argv[2], "rb") as lines:
    for line in lines:
        record = loads(line)
        messages = record["messages"]
        head = [message for message in messages[:-40] if message["role"] == "system"]
        record["messages"] = head + messages[-40:]
        sys.stdout.buffer.write(dumps(record) + b"\n")
