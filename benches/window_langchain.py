"""Keeps the last 40 messages of every record with `trim_messages` of LangChain. Usage: window_langchain.py FILE"""

import json
import sys

from langchain_core.messages import convert_to_messages, convert_to_openai_messages, trim_messages

with open(sys.argv[1], "rb") as lines:
    for line in lines:
        record = json.loads(line)
        messages = convert_to_messages(record["messages"])
        kept = trim_messages(messages, strategy="last", token_counter=len, max_tokens=40, include_system=True)
        record["messages"] = convert_to_openai_messages(kept)
        sys.stdout.write(json.dumps(record, ensure_ascii=False) + "\n")
