"""Keeps the last 40 messages of every record with Hugging Face `datasets`, in two processes. Usage: window_datasets.py FILE"""

import os
import sys
import tempfile

import datasets


def last(record):
    messages = record["messages"]
    head = [message for message in messages[:-40] if message["role"] == "system"]
    return {"messages": head + messages[-40:]}


if __name__ == "__main__":
    datasets.disable_progress_bars()
    with tempfile.TemporaryDirectory() as cache:
        rows = datasets.load_dataset("json", data_files=sys.argv[1], split="train", cache_dir=cache)
        rows.map(last, num_proc=2).to_json(os.devnull, lines=True)
