# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the tool on both halves of each example.

declines.py EXAMPLES FOLDER -- FLAGS...
"""

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(sys.argv[1], "..", "..", "..", "scripts"))
from check_declines import EXAMPLE, NO_EXAMPLE

examples, folder = sys.argv[1:3]
flags = sys.argv[sys.argv.index("--") + 1:]
toolkit = os.environ.get("TOOLKIT")
tried = left_out = 0


def listed(source, options):
    """What --list says of a source: files, its own first."""
    name = os.path.join(folder, "k.cu")
    for part in re.split(r"^//--- ", "k.cu\n" + source, flags=re.M):
        to, _, text = part.partition("\n")
        with open(os.path.join(folder, to), "w") as f:
            f.write(text)
    options, _, more = (" " + (options or "")).partition(" -- ")
    needs_toolkit = "#include <" in source
    command = ["rcache-rewrite", name, "--list", "--self-check=off"] + options.split()
    command += ["--cuda-path=" + toolkit, "--"] if needs_toolkit else ["--"] + flags
    result = subprocess.run(command + more.split(), capture_output=True, text=True)
    return result.stdout + result.stderr


for name in sorted(os.listdir(examples)):
    code = name[:-len(".cu")]
    with open(os.path.join(examples, name)) as f:
        text = f.read()
    if NO_EXAMPLE.fullmatch(text):
        continue
    m = EXAMPLE.fullmatch(text)
    assert m, name
    if "#include <" in text and not toolkit:
        left_out += 1
        continue
    said = listed(m["before"], m["before_with"])
    # The code is the first, which is what a reader is led by.
    if not re.search(r": (declined|not-shared) k\b[^\n]*?; %s\b" % re.escape(code), said):
        sys.exit("%s, before: %s" % (name, said or "no answer"))
    if m["after"] and not re.search(": rewritten k\\b", said := listed(m["after"], m["after_with"])):
        sys.exit("%s, after: %s" % (name, said or "no answer"))
    tried += 1
assert tried >= 50
print("%d examples tried, %d left out" % (tried, left_out))
