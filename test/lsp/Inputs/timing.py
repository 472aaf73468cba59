# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A parse that takes long blocks nothing: it is made to wait by including a
named pipe that nobody writes to yet.

    timing.py FOLDER -- COMPILER-FLAGS...
"""

import os
import sys

from client import Client, LspError, position_of, uri

folder, flags = sys.argv[1], sys.argv[3:]
here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "kernels.cu")) as f:
    TEXT = f.read()
PIPE = os.path.join(folder, "slow.h")
SLOW = os.path.join(folder, "slow.cu")
QUICK = os.path.join(folder, "quick.cu")


def release(times=1):
    """Lets the parses that wait for the pipe go on."""
    for _ in range(times):
        with open(PIPE, "w") as f:
            f.write("// nothing\n")


def code_of(c, request):
    try:
        c.wait(request)
    except LspError as error:
        return error.code
    raise AssertionError("an error was expected")


def main():
    os.mkfifo(PIPE)
    slow_text = '#include "slow.h"\n' + TEXT
    command = ["rcache-lsp", "--pause=0", "--patience=60000", "--", *flags]
    with Client(command) as c:
        c.open(SLOW, slow_text)
        at_kernel = c.actions_at(SLOW, position_of(slow_text, "smooth"))
        cancelled = c.start("textDocument/codeAction", at_kernel)
        outdated = c.start("textDocument/codeAction", at_kernel)

        # Another document is served meanwhile.
        c.open(QUICK, TEXT)
        assert len(c.request("textDocument/codeAction", c.actions_at(QUICK, position_of(TEXT, "smooth")))) > 1
        assert c.request("textDocument/hover", c.at(QUICK, position_of(TEXT, "smooth")))

        # Cancelling answers at once; so does a change of the text.
        c.notify("$/cancelRequest", {"id": cancelled})
        assert code_of(c, cancelled) == -32800
        c.change(SLOW, slow_text + "\n")
        c.change(SLOW, TEXT)
        assert code_of(c, outdated) == -32801
        newest = c.start("textDocument/codeAction", c.actions_at(SLOW, position_of(TEXT, "smooth")))
        release()
        assert len(c.wait(newest)) > 1
        # Only the newest text was reported on.
        assert c.diagnostics(SLOW)[0]["code"] == "rewritable"
        assert not c.notifications or all(
            n["params"]["uri"] != uri(SLOW) for n in c.notifications
        ), c.notifications

        # What was known of a kernel is shown while its text is parsed again.
        c.change(SLOW, TEXT + '#include "slow.h"\n')
        shown = c.request("textDocument/hover", c.at(SLOW, position_of(TEXT, "smooth")))
        assert "can be rewritten" in shown["contents"]["value"], shown
        release()
        assert c.diagnostics(SLOW, 4)

        # Closing and ending do not wait for a parse either.
        c.change(SLOW, slow_text)
        waiting = c.start("textDocument/codeAction", at_kernel)
        assert c.request("shutdown", None) is None
        assert code_of(c, waiting) == -32800
        c.notify("exit", None)
        assert c.process.wait(timeout=30) == 0

    # Patience: a request is answered with nothing after a while.
    with Client(["rcache-lsp", "--pause=0", "--patience=200", "--", *flags]) as c:
        c.open(SLOW, slow_text)
        at_kernel = c.actions_at(SLOW, position_of(slow_text, "smooth"))
        assert c.request("textDocument/codeAction", at_kernel) == []
        assert c.request("textDocument/hover", c.at(SLOW, position_of(slow_text, "smooth"))) is None
        release()
        assert c.diagnostics(SLOW)
        assert c.end() == 0

    # A burst of changes is analysed once, after a pause.
    with Client(["rcache-lsp", "--pause=1500", "--", *flags]) as c:
        c.open(QUICK, TEXT)
        c.diagnostics(QUICK, 1)
        for i in range(20):
            c.change(QUICK, ({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}, "\n"))
        c.diagnostics(QUICK, 21)
        assert not c.notifications, c.notifications
        # Broken framing is answered, and the next message is read.
        c.send_bytes(b"Content-Type: x\r\n\r\n")
        assert c.request("textDocument/hover", c.at(QUICK, position_of(TEXT, "RADIUS"))) is None
        assert c.replies.pop(None)["error"]["code"] == -32700
        c.send_bytes(b"Content-Length: 9\r\n\r\n" + b"[" * 9)
        depth = b"[" * 100000
        c.send_bytes(b"Content-Length: %d\r\n\r\n%s" % (len(depth), depth))
        c.send_bytes(b'Content-Length: 3\r\n\r\n"\xff"')
        assert c.request("textDocument/hover", c.at(QUICK, position_of(TEXT, "RADIUS"))) is None
        assert c.process.poll() is None
        assert c.end() == 0


main()
print("done")
