"""A server on the loopback that answers requests to a model with "OK." and keeps what it was asked.

It answers in the formats of OpenAI (Responses and Chat Completions) and Gemini, streamed or whole. Any other request
gets an empty object or list, and is not kept.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

REPLY = "OK."


def responses():
    item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": REPLY, "annotations": []}]}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    for kind, rest in [
        ("response.created", {"response": {"id": "r1"}}),
        ("response.output_item.done", {"output_index": 0, "item": item}),
        ("response.completed", {"response": {"id": "r1", "status": "completed", "output": [item], "usage": usage}}),
    ]:
        yield f"event: {kind}\ndata: {json.dumps({'type': kind, **rest})}\n\n"


def chat(streamed):
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    head = {"id": "c1", "created": 1, "model": "m"}
    if not streamed:
        choice = {"index": 0, "message": {"role": "assistant", "content": REPLY}, "finish_reason": "stop"}
        yield json.dumps({**head, "object": "chat.completion", "choices": [choice], "usage": usage})
        return
    for delta, reason in (({"role": "assistant", "content": REPLY}, None), ({}, "stop")):
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        yield "data: " + json.dumps({**head, "object": "chat.completion.chunk", "choices": [choice], "usage": usage if reason else None}) + "\n\n"
    yield "data: [DONE]\n\n"


def gemini(streamed):
    candidate = {"content": {"role": "model", "parts": [{"text": REPLY}]}, "finishReason": "STOP", "index": 0}
    whole = json.dumps({"candidates": [candidate], "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}})
    yield f"data: {whole}\n\n" if streamed else whole


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            asked = json.loads(body)
        except ValueError:
            asked = {}
        path, streamed = self.path, bool(asked.get("stream"))
        if path.endswith("/responses"):
            streamed, pieces = True, responses()
        elif path.endswith("/chat/completions"):
            pieces = chat(streamed)
        elif "enerateContent" in path:
            streamed = "streamGenerateContent" in path
            pieces = gemini(streamed)
        elif path.endswith(":countTokens"):
            pieces = [json.dumps({"totalTokens": 1})]
        else:
            return self.answer(["{}"], False)
        if not path.endswith(":countTokens"):
            self.server.asked.append(asked)
        self.answer(pieces, streamed)

    def do_GET(self):
        self.answer([json.dumps({"object": "list", "data": [], "models": []})], False)

    def answer(self, pieces, streamed):
        whole = "".join(pieces).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if streamed else "application/json")
        self.send_header("Content-Length", str(len(whole)))
        self.end_headers()
        self.wfile.write(whole)

    def log_message(self, *_):
        pass


class Model:
    """The server; `asked` holds its requests."""

    def __enter__(self):
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.asked = []
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        return self

    def __exit__(self, *_):
        self.http.shutdown()

    @property
    def asked(self):
        return self.http.asked
