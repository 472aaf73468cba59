# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A small language client for tests: real framing, real time.

    with Client(["rcache-lsp", ...]) as c:
        c.open("/x/a.cu", text)
        result = c.request("textDocument/hover", ...)

Everything waits at most `LIMIT` seconds; a server that does not answer is a
failed test.
"""

import json
import queue
import subprocess
import threading
import urllib.parse

LIMIT = 60


def uri(path):
    return "file://" + urllib.parse.quote(path)


class LspError(Exception):
    def __init__(self, error):
        super().__init__("%s: %s" % (error["code"], error["message"]))
        self.code = error["code"]


class Client:
    def __init__(self, command, capabilities=None):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.arrived = queue.Queue()
        self.replies = {}
        self.notifications = []
        self.next_id = 0
        self.versions = {}
        threading.Thread(target=self._read, daemon=True).start()
        self.capabilities = self.request(
            "initialize",
            {"processId": None, "rootUri": None, "capabilities": capabilities or {}},
        )["capabilities"]
        self.notify("initialized", {})

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def _read(self):
        while True:
            length = None
            while True:
                line = self.process.stdout.readline()
                if not line:
                    return self.arrived.put(None)
                if line.strip() == b"":
                    break
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            self.arrived.put(json.loads(self.process.stdout.read(length)))

    def send_bytes(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        body = json.dumps(message).encode()
        self.send_bytes(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def notify(self, method, params):
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def start(self, method, params):
        """Sends a request and returns its id."""
        self.next_id += 1
        self.send(
            {"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params}
        )
        return self.next_id

    def _take_one(self, limit):
        message = self.arrived.get(timeout=limit)
        if message is None:
            raise EOFError("the server is gone")
        if "method" in message:
            self.notifications.append(message)
        else:
            self.replies[message.get("id")] = message

    def wait(self, request_id, limit=LIMIT):
        """The result of a request; raises LspError."""
        while request_id not in self.replies:
            self._take_one(limit)
        reply = self.replies.pop(request_id)
        if "error" in reply:
            raise LspError(reply["error"])
        return reply["result"]

    def request(self, method, params, limit=LIMIT):
        return self.wait(self.start(method, params), limit)

    def diagnostics(self, path, version=None):
        """The next published diagnostics of a document (of this version)."""
        while True:
            for i, message in enumerate(self.notifications):
                params = message["params"]
                if (
                    message["method"] == "textDocument/publishDiagnostics"
                    and params["uri"] == uri(path)
                    and version in (None, params["version"])
                ):
                    del self.notifications[i]
                    return params["diagnostics"]
            self._take_one(LIMIT)

    # Documents.

    def open(self, path, text, language="cuda"):
        self.versions[path] = 1
        self.notify(
            "textDocument/didOpen",
            {
                "textDocument": {
                    "uri": uri(path),
                    "languageId": language,
                    "version": 1,
                    "text": text,
                }
            },
        )

    def change(self, path, *changes):
        """Each change is a whole text, or (range, text)."""
        self.versions[path] += 1
        events = [
            {"text": c} if isinstance(c, str) else {"range": c[0], "text": c[1]}
            for c in changes
        ]
        self.notify(
            "textDocument/didChange",
            {
                "textDocument": {"uri": uri(path), "version": self.versions[path]},
                "contentChanges": events,
            },
        )

    def at(self, path, position):
        return {"textDocument": {"uri": uri(path)}, "position": position}

    def actions_at(self, path, position, only=None):
        context = {"diagnostics": []}
        if only is not None:
            context["only"] = only
        return {
            "textDocument": {"uri": uri(path)},
            "range": {"start": position, "end": position},
            "context": context,
        }

    def end(self):
        """Shuts down in order; the exit status."""
        self.request("shutdown", None)
        self.notify("exit", None)
        self.process.stdin.close()
        return self.process.wait(timeout=LIMIT)


# Texts as editors see them: lines, and columns in UTF-16 units.


def position_of(text, needle, nth=0):
    """Where `needle` stands for the nth time."""
    offset = -1
    for _ in range(nth + 1):
        offset = text.index(needle, offset + 1)
    line_start = text.rfind("\n", 0, offset) + 1
    return {
        "line": text.count("\n", 0, offset),
        "character": len(text[line_start:offset].encode("utf-16-le")) // 2,
    }


def offset_of(text, position):
    lines = text.split("\n")
    line = lines[position["line"]].encode("utf-16-le")
    before = line[: 2 * position["character"]].decode("utf-16-le")
    return sum(len(l) + 1 for l in lines[: position["line"]]) + len(before)


def apply_edits(text, edits):
    spans = sorted(
        (
            offset_of(text, e["range"]["start"]),
            offset_of(text, e["range"]["end"]),
            e["newText"],
        )
        for e in edits
    )
    for start, end, new in reversed(spans):
        text = text[:start] + new + text[end:]
    return text


def text_at(text, span):
    """What a range covers."""
    return text[offset_of(text, span["start"]) : offset_of(text, span["end"])]
