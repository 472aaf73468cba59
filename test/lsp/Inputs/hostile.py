# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Messages that no client should send: whatever comes, the server answers each
request once, or says that it could not be read, and goes on.

    hostile.py FOLDER -- COMPILER-FLAGS...
"""

import json
import os
import random
import subprocess
import sys

from client import Client, LspError, position_of, uri

folder, flags = sys.argv[1], sys.argv[3:]
here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "kernels.cu")) as f:
    TEXT = f.read()
FILE = os.path.join(folder, "a.cu")
COMMAND = ["rcache-lsp", "--pause=0", "--", *flags]


def framed(body):
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def alive(c):
    assert "can be rewritten" in c.request(
        "textDocument/hover", c.at(FILE, position_of(TEXT, "smooth"))
    )["contents"]["value"]


def error_of(c, request):
    try:
        c.wait(request)
    except LspError as error:
        return error.code
    return None


def strange_values():
    big = 10**30
    return [None, True, 0, -1, 2**31, 2**63, -(2**63), 2**64, big, 1.5, 1e308, "", "x", "\u0000",
            "\U0001f600", [], [[]], {}, {"uri": 1}, [1, "a", None], "file://", "file:///%", "file:///%zz",
            "file:///%00", "http://x/a.cu", "untitled:1", "/a.cu", "file://host/a.cu"]


def replaced(value, rng):
    """A copy of a message with one part of it replaced, left out or doubled."""
    value = json.loads(json.dumps(value))
    places = []

    def walk(v):
        if isinstance(v, (dict, list)):
            for k in v if isinstance(v, dict) else range(len(v)):
                places.append((v, k))
                walk(v[k])

    walk(value)
    # The frame of the message has tests of its own.
    places = [p for p in places if p[1] not in ("id", "jsonrpc", "method")]
    container, key = rng.choice(places)
    if isinstance(container, dict) and rng.random() < 0.2:
        del container[key]
    else:
        container[key] = rng.choice(strange_values())
    return value


def position_messages(c):
    document = {"textDocument": {"uri": uri(FILE)}}
    point = {"line": 3, "character": 5}
    span = {"start": point, "end": {"line": 9, "character": 0}}
    yield "textDocument/hover", dict(document, position=point)
    yield "textDocument/codeAction", dict(document, range=span, context={"diagnostics": [], "only": ["refactor"]})


def notifications():
    other = uri(os.path.join(folder, "other.cu"))
    span = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
    item = {"uri": other, "languageId": "cuda", "version": 1, "text": "int x;\n"}
    yield "textDocument/didOpen", {"textDocument": item}
    change = {"range": span, "text": "y"}
    yield "textDocument/didChange", {"textDocument": {"uri": other, "version": 2}, "contentChanges": [change]}
    yield "textDocument/didSave", {"textDocument": {"uri": other}}
    yield "textDocument/didClose", {"textDocument": {"uri": other}}
    yield "$/cancelRequest", {"id": 4}


def wrong_values():
    rng = random.Random(20240501)
    with Client(COMMAND) as c:
        c.open(FILE, TEXT)
        for _ in range(120):
            for method, params in position_messages(c):
                answer = c.start(method, replaced({"params": params}, rng).get("params"))
                assert error_of(c, answer) in (None, -32600, -32602), (method, params)
            for method, params in notifications():
                c.notify(method, replaced({"params": params}, rng).get("params"))
        alive(c)
        # Places outside of any text.
        for line, character in [(2**31 - 1, 0), (0, 2**31 - 1), (-1, 0), (0, -1), (-(2**31), 2**31 - 1)]:
            at = {"line": line, "character": character}
            assert error_of(c, c.start("textDocument/hover", c.at(FILE, at))) in (None, -32602)
            assert error_of(c, c.start("textDocument/codeAction", c.actions_at(FILE, at))) in (None, -32602)
        # Ids as large, small and odd as JSON has them come back as they were.
        for id_ in [0, -1, 2**31, 2**53, 2**63 - 1, "", "x" * 10000, "\u00e9\U0001f600"]:
            c.send({"jsonrpc": "2.0", "id": id_, "method": "no/such"})
            assert error_of(c, id_) == -32601
        for id_ in [10**30, 1e300, 1.5]: # as good as numbers get in JSON
            c.send({"jsonrpc": "2.0", "id": id_, "method": "no/such"})
            while not c.replies:
                c._take_one(60)
            (reply,) = c.replies.values()
            assert float(reply["id"]) == float(id_) and reply["error"]["code"] == -32601
            c.replies.clear()
        alive(c)
        # Changes that do not fit: nothing is shown of a text that is not the client's.
        c.change(FILE, ({"start": {"line": 5, "character": 0}, "end": {"line": 2, "character": 0}}, "x"))
        assert c.request("textDocument/hover", c.at(FILE, position_of(TEXT, "smooth"))) is None
        c.change(FILE, TEXT)
        alive(c)
        assert c.end() == 0


def broken_frames():
    hover = {"jsonrpc": "2.0", "id": 900, "method": "no/such"}
    good = framed(json.dumps(hover).encode())
    with Client(COMMAND) as c:
        c.open(FILE, TEXT)
        for bad in [
            b"\r\n",
            b"Content-Length: x\r\n\r\n",
            b"Content-Length: -5\r\n\r\n",
            b"Content-Length:\r\n\r\n",
            b"Content-Length: 0\r\n\r\n",
            b"Content-Type: utf-8\r\n\r\n",
            b"Header without an end: " + b"x" * 100000 + b"\r\n\r\n",
            b"\xff\xfe\r\n\r\n",
            framed(b""),
            framed(b"null"),
            framed(b"{"),
            framed(b"{}"),
            framed(b'{"jsonrpc":"2.0"}'),
            framed(b'{"jsonrpc":"2.0","id":1}'),
            framed(b"\x00\x01\x02"),
            framed(b'{"jsonrpc":"2.0","method":"\xff"}'),
            framed(b'{"jsonrpc":"2.0","id":7,"method":"a","params":"\\ud800"}'),
            framed(b"1" * 100000),
            framed(b'"' + b"a" * 1000000 + b'"'),
        ]:
            c.send_bytes(bad)
            c.send_bytes(good)
            assert error_of(c, 900) == -32601, bad[:60]
        # Lower case, other headers, any order.
        body = json.dumps(hover).encode()
        c.send_bytes(b"content-length: %d\r\nContent-Type: application/json\r\n\r\n%s" % (len(body), body))
        assert error_of(c, 900) == -32601
        c.send_bytes(b"Content-Type: x\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        assert error_of(c, 900) == -32601
        alive(c)
        assert c.end() == 0
    # The end of the input in the middle of anything: no crash, no wait.
    for end in [b"", b"Cont", b"Content-Length: 10", b"Content-Length: 10\r\n\r\n", b"Content-Length: 10\r\n\r\n{}",
                b"Content-Length: 99999999999999999999\r\n\r\n{}", b"Content-Length: 4000000000\r\n\r\n{}"]:
        done = subprocess.run(COMMAND, input=end, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60)
        assert done.returncode == 1, (end, done.returncode)


def random_bytes():
    """Sessions with bytes flipped, cut and doubled: never a crash."""
    rng = random.Random(7)
    session = b"".join(
        framed(json.dumps(m).encode())
        for m in [
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}},
            {"jsonrpc": "2.0", "method": "textDocument/didOpen",
             "params": {"textDocument": {"uri": "file:///t/b.cu", "languageId": "cuda", "version": 1, "text": "__global__ void k();\n"}}},
            {"jsonrpc": "2.0", "id": 2, "method": "textDocument/hover",
             "params": {"textDocument": {"uri": "file:///t/b.cu"}, "position": {"line": 0, "character": 17}}},
            {"jsonrpc": "2.0", "method": "textDocument/didChange",
             "params": {"textDocument": {"uri": "file:///t/b.cu", "version": 2}, "contentChanges": [{"text": "int a;"}]}},
            {"jsonrpc": "2.0", "id": 3, "method": "shutdown"},
            {"jsonrpc": "2.0", "method": "exit"},
        ]
    )
    for _ in range(60):
        data = bytearray(session)
        for _ in range(rng.randrange(1, 6)):
            at = rng.randrange(len(data))
            kind = rng.randrange(4)
            if kind == 0:
                data[at] = rng.randrange(256)
            elif kind == 1:
                del data[at : at + rng.randrange(1, 40)]
            elif kind == 2:
                data[at:at] = data[rng.randrange(len(data)) :][: rng.randrange(1, 60)]
            else:
                data[at:at] = bytes(rng.randrange(256) for _ in range(3))
        done = subprocess.run(COMMAND, input=bytes(data), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60)
        assert done.returncode in (0, 1), (bytes(data), done.returncode)


def before_and_after():
    process = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "textDocument/codeAction", "params": {}},
        {"jsonrpc": "2.0", "id": 2, "method": "shutdown"},
        {"jsonrpc": "2.0", "method": "textDocument/didClose", "params": {"textDocument": {"uri": "file:///x.cu"}}},
        {"jsonrpc": "2.0", "id": 3, "method": "initialize", "params": 7},
        {"jsonrpc": "2.0", "id": 4, "method": "shutdown", "params": [1]},
        {"jsonrpc": "2.0", "id": 5, "method": "textDocument/hover", "params": {}},
        {"jsonrpc": "2.0", "id": 6, "method": "shutdown"},
        {"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": {}},
        {"jsonrpc": "2.0", "method": "exit"},
    ]
    out, _ = process.communicate(b"".join(framed(json.dumps(m).encode()) for m in messages), timeout=60)
    replies = {}
    while out:
        head, _, out = out.partition(b"\r\n\r\n")
        length = int(head.split(b":")[1])
        message = json.loads(out[:length])
        out = out[length:]
        assert message["id"] not in replies
        replies[message["id"]] = message.get("error", {}).get("code")
    assert replies == {1: -32002, 2: -32002, 3: None, 4: None, 5: -32600, 6: -32600, 7: -32600}, replies
    assert process.returncode == 0


wrong_values()
broken_frames()
random_bytes()
before_and_after()
print("done")
