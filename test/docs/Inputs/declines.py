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
from check_declines import EXAMPLE

examples, folder = sys.argv[1:3]
flags = sys.argv[sys.argv.index("--") + 1:]
count = 0
for name in sorted(os.listdir(examples)):
    code = name[:-len(".cu")]
    with open(os.path.join(examples, name)) as f:
        with_before, before, with_after, _, after = EXAMPLE.fullmatch(f.read()).groups()
    for what, source, options in (("before", before, with_before), ("after", after, with_after)):
        path = os.path.join(folder, what + ".cu")
        with open(path, "w") as f:
            f.write(source)
        options, _, more = (options or "").partition("--" if (options or "").startswith("-- ") else " -- ")
        listed = subprocess.run(
            ["rcache-rewrite", path, "--list", "--self-check=off"] + options.split() + ["--"] + flags + more.split(),
            capture_output=True, text=True)
        if what == "before":
            good = re.search(r": (declined|not-shared) k\b[^\n]*; %s\b" % re.escape(code), listed.stdout)
        else:
            good = ": rewritten " in listed.stdout
        if not good:
            sys.exit("%s, %s: %s" % (name, what, listed.stdout + listed.stderr or "no answer"))
    count += 1
assert count >= 35
