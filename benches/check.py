"""What scripts do without `curtail`: checks that every call has a result and every result a call. Usage: check.py FILE"""

import sys

from orjson import loads

broken = 0
with open(sys.argv[1], "rb") as lines:
    for line in lines:
        waiting = set()
        for message in loads(line)["messages"]:
            for call in message.get("tool_calls") or ():
                waiting.add(call["id"])
            if message["role"] == "tool":
                broken += message["tool_call_id"] not in waiting
                waiting.discard(message["tool_call_id"])
        broken += len(waiting)
print(broken)
