# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What lines become in bash, in a terminal of its own.

completion_bash.py SCRIPT
"""

import os
import pty
import re
import select
import sys
import time

os.environ.update(TERM="dumb", COLUMNS="200", HISTFILE="/dev/null")
child, terminal = pty.fork()
if child == 0:
    os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])


def answer(text, wanted):
    """What the terminal says until `wanted` is in it."""
    os.write(terminal, text.encode())
    said, begin = "", time.time()
    while not re.search(wanted, said):
        if time.time() > begin + 60:
            sys.exit("not said: %s\n%r" % (wanted, said))
        if select.select([terminal], [], [], 0.1)[0]:
            said += os.read(terminal, 65536).decode(errors="replace")
    return re.search(wanted, said)


answer("PS1='%%'; source %s; echo re''ady\n" % sys.argv[1], "ready")
for line in ("rcache-lsp --lo", "rcache-lsp --log=i", "rcache-rewrite completion.", "rcache-rewrite x.cu --distribution=ch", "rcache-check di"):
    # The line in quotes, once the program was asked; between brackets, as the terminal
    # repeats what is typed.
    whole = answer(line + "\t\x01echo '[[\x05]]' | tr '[]' '<>'\n", r"<<(.*?)>>").group(1)
    print("%s -> [%s]" % (line, whole))
os.close(terminal)
