# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What zsh offers for some lines, in a terminal of its own.

completion_zsh.py FOLDER     with _rcache
"""

import os
import pty
import re
import select
import sys
import time

os.environ.update(TERM="dumb", COLUMNS="200")
child, terminal = pty.fork()
if child == 0:
    os.execvp("zsh", ["zsh", "-f"])


def answer(text, wanted, again=""):
    """What the terminal says until `wanted` is in it, `again` typed now and then."""
    os.write(terminal, text.encode())
    said, begin, typed = "", time.time(), time.time()
    while not re.search(wanted, said):
        if time.time() > begin + 60:
            sys.exit("not said: %s\n%r" % (wanted, said))
        if again and time.time() > typed + 4:
            os.write(terminal, again.encode())
            typed = time.time()
        if select.select([terminal], [], [], 0.1)[0]:
            said += os.read(terminal, 65536).decode(errors="replace")
    return said


answer("PS1='%%%%'; fpath=(%s $fpath); autoload -Uz compinit; compinit -u -D; echo re''ady\n" % sys.argv[1], "ready")
for line, wanted in (("rcache-rewrite --expl", r"--explain +-- Write a page[^\n]*\s*--explain-choice +-- Print"),
                     ("rcache-rewrite --tune=", r"device +none +ptxas"),
                     ("rcache-rewrite --distribution=c", r"chunked +cyclic"),
                     ("rcache-lsp --pat", r"--patience="),
                     ("rcache-check d", r"diff"),
                     ("rcache-rewrite completion.", r"completion\.sh")):
    # Its program is asked before anything is shown.
    answer(line + "\t", wanted, "\t")
    answer("\x15echo don''e\n", "done")
    print("offered:", line)
os.close(terminal)
