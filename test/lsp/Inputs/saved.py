# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""saved.py FOLDER -- COMPILER-FLAGS..."""

import os
import sys

from client import Client, uri

folder, flags = sys.argv[1], sys.argv[3:]
path = os.path.join(folder, "a.cu")
header = os.path.join(folder, "size.h")
other = os.path.join(folder, "other.h")


def write(name, text):
    with open(name, "w") as f:
        f.write(text)


def save(c, name):
    c.notify("textDocument/didSave", {"textDocument": {"uri": uri(name)}})


with Client(["rcache-lsp", "--pause=0", "--", *flags]) as c:
    c.open(path, '#include "size.h"\n#if SIZE != 2\n#error size\n#endif\n')
    (message,) = c.diagnostics(path)
    assert "'size.h' file not found" in message["message"], message
    # Any file may be what a text with errors has waited for.
    write(header, "#define SIZE 1\n")
    save(c, header)
    (message,) = c.diagnostics(path)
    assert message["message"].endswith(": size"), message
    write(header, "#define SIZE 2\n")
    save(c, header)
    assert c.diagnostics(path) == []
    # From now on only what it includes.
    save(c, other)
    write(header, "#define SIZE 3\n")
    save(c, header)
    (message,) = c.diagnostics(path)
    assert message["message"].endswith(": size"), message
    assert not c.notifications, c.notifications
    assert c.end() == 0
print("done")
