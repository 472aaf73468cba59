# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Texts as editors have them: several at a time, with line ends of either kind,
changed bit by bit, under names with blanks and signs. What an action gives is
compared with the command line's output byte for byte.

    texts.py FOLDER -- COMPILER-FLAGS...
"""

import os
import random
import subprocess
import sys

from client import Client, apply_edits, position_of, uri

folder, flags = sys.argv[1], sys.argv[3:]
here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "kernels.cu")) as f:
    TEXT = f.read()
COMMAND = ["rcache-lsp", "--pause=0", "--patience=60000", "--", *flags]
TITLE = "Rewrite smooth with the register cache"


def command_line(text, *options):
    path = os.path.join(folder, "reference.cu")
    with open(path, "wb") as f:
        f.write(text.encode())
    return subprocess.run(
        ["rcache-rewrite", "-q", path, *options, "--", *flags], check=True, stdout=subprocess.PIPE
    ).stdout.decode()


def rewritten(c, path, text):
    actions = c.request("textDocument/codeAction", c.actions_at(path, position_of(text, "smooth")))
    (edits,) = [a["edit"]["changes"][uri(path)] for a in actions if a["title"] == TITLE]
    return apply_edits(text, edits)


def line_ends():
    text = TEXT.replace("\n", "\r\n")
    path = os.path.join(folder, "dos.cu")
    with Client(COMMAND) as c:
        c.open(path, text)
        new = rewritten(c, path, text)
        assert new == command_line(text, "--kernel=smooth") and new != text
        assert new.count("\n") == new.count("\r\n") == new.count("\r")
        assert c.end() == 0


def names():
    for name in ["with blank.cu", "\u00e4\U0001f600.cu", "100%.cu", "a+b&c=d#e?f.cu", "%41.cu"]:
        path = os.path.join(folder, name)
        with Client(COMMAND) as c:
            c.open(path, TEXT)
            assert any(d["code"] == "rewritable" for d in c.diagnostics(path, 1)), name
            assert rewritten(c, path, TEXT) == command_line(TEXT, "--kernel=smooth")
            assert c.end() == 0
    # Clients escape differently; answers carry the name that the client gave.
    spelled = "file://" + folder + "/lower%c3%a9%2bplus.cu"
    with Client(COMMAND) as c:
        document = {"uri": spelled, "languageId": "cuda", "version": 7, "text": TEXT}
        c.notify("textDocument/didOpen", {"textDocument": document})
        at = position_of(TEXT, "smooth")
        params = {"textDocument": {"uri": spelled}, "range": {"start": at, "end": at}, "context": {"diagnostics": []}}
        actions = c.request("textDocument/codeAction", params)
        assert list(actions[0]["edit"]["changes"]) == [spelled]
        shown = [n["params"] for n in c.notifications if n["method"] == "textDocument/publishDiagnostics"]
        assert shown and all(p["uri"] == spelled and p["version"] == 7 for p in shown)
        assert c.end() == 0


def bit_by_bit():
    """Random incremental changes in comments; the server's text stays the client's."""
    rng = random.Random(11)
    alphabet = ["x", " ", "\u00e9", "\u20ac", "\U0001f600", "\n// ", "\t"]
    path = os.path.join(folder, "typed.cu")
    for end in ("\n", "\r\n"):
        head = ("// comment \U0001f600 one\n// comment two\n// end of comments\n").replace("\n", end)
        text = head + TEXT.replace("\n", end)
        with Client(COMMAND) as c:
            c.open(path, text)
            for _ in range(12):
                changes = []
                for _ in range(rng.randrange(1, 5)):
                    lines = text.split(end)
                    comments = [i for i, l in enumerate(lines[:4]) if l.startswith("// ") and "end of" not in l]
                    i = rng.choice(comments)
                    first = rng.randrange(3, len(lines[i]) + 1)
                    last = rng.randrange(first, len(lines[i]) + 1)
                    units = lambda s: len(s.encode("utf-16-le")) // 2
                    new = "".join(rng.choice(alphabet) for _ in range(rng.randrange(6))).replace("\n", end)
                    span = {
                        "start": {"line": i, "character": units(lines[i][:first])},
                        "end": {"line": i, "character": units(lines[i][:last])},
                    }
                    changes.append((span, new))
                    lines[i] = lines[i][:first] + new + lines[i][last:]
                    text = end.join(lines)
                c.change(path, *changes)
            assert rewritten(c, path, text) == command_line(text, "--kernel=smooth")
            assert c.end() == 0


def several():
    """Documents know nothing of each other, and closing one leaves the others."""
    paths = [os.path.join(folder, "doc%d.cu" % i) for i in range(4)]
    texts = [TEXT.replace("RADIUS 3", "RADIUS %d" % (i + 1)) for i in range(4)]
    with Client(COMMAND) as c:
        for path, text in zip(paths, texts):
            c.open(path, text)
        for path in paths[1:]:
            c.diagnostics(path, 1)
        c.notify("textDocument/didClose", {"textDocument": {"uri": uri(paths[0])}})
        while c.diagnostics(paths[0]):
            pass
        for path, text in list(zip(paths, texts))[1:]:
            assert rewritten(c, path, text) == command_line(text, "--kernel=smooth")
        # Opened again, it is new.
        c.open(paths[0], texts[3])
        assert rewritten(c, paths[0], texts[3]) == command_line(texts[3], "--kernel=smooth")
        assert c.end() == 0


line_ends()
names()
bit_by_bit()
several()
print("done")
