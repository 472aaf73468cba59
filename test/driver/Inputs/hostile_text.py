# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files that nobody should pass to a compiler, made of FOLDER/stencil.cu.

hostile_text.py FOLDER             makes them
hostile_text.py --plain FILE...    fails where a file holds control characters or long lines
hostile_text.py --results FOLDER   fails where a result is not what the encoding asks for
"""

import json
import os
import random
import sys


def path(name):
    return os.path.join(sys.argv[-1], name)


def read(name):
    with open(path(name), "rb") as f:
        return f.read()


def write(name, data):
    with open(path(name), "wb") as f:
        f.write(data)


if sys.argv[1] == "--plain":
    for name in sys.argv[2:]:
        with open(name, "rb") as f:
            for line in f.read().split(b"\n"):
                # What the compiler says may name what it stumbled over, quoted.
                if b" | " in line and (len(line) > 1000 or any(c < 32 and c != 9 or c == 127 for c in line)):
                    sys.exit("%s: %r" % (name, line[:200]))
elif sys.argv[1] == "--results":
    plain = b"blur_rc"
    bom, crlf, latin1 = read("bom_rc.cu"), read("crlf_rc.cu"), read("latin1_rc.cu")
    assert plain in bom and plain in crlf and plain in latin1
    assert bom.startswith(b"\xef\xbb\xbf") and bom.count(b"\xef\xbb\xbf") == 1
    assert crlf.count(b"\n") == crlf.count(b"\r\n") > 100
    assert b"// caf\xe9\n" in latin1
    json.loads(read("latin1.json").decode("utf-8"))
    json.loads(read("latin1.sarif").decode("utf-8"))
    read("latin1.html").decode("utf-8")
else:
    source = read("stencil.cu")
    random.seed(1)
    write("bytes.cu", bytes(random.randrange(256) for _ in range(100000)))
    write("zeros.cu", bytes(100000))
    write("empty.cu", b"")
    write("utf16.cu", source.decode().encode("utf-16"))
    write("bom.cu", b"\xef\xbb\xbf" + source)
    write("crlf.cu", source.replace(b"\n", b"\r\n"))
    write("latin1.cu", b"// caf\xe9\n" + source)
    write("escapes.cu", b"/* \x1b[31m */ int red = oops;\n/*" + b"x" * 1000000 + b" */ int y = far;\n")
