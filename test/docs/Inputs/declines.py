# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the tool on both halves of each example.

declines.py EXAMPLES FOLDER -- FLAGS...
"""

import os
import subprocess
import sys

examples, folder = sys.argv[1:3]
flags = sys.argv[3:]
count = 0
for name in sorted(os.listdir(examples)):
    code = name[:-len(".cu")]
    with open(os.path.join(examples, name)) as f:
        before, _, after = f.read().partition("\n// after")
    after = after.partition("\n")[2]
    for what, source in (("before", before), ("after", after)):
        path = os.path.join(folder, what + ".cu")
        with open(path, "w") as f:
            f.write(source)
        listed = subprocess.run(["rcache-rewrite", path, "--list"] + flags, capture_output=True, text=True).stdout
        good = "declined" in listed and "; " + code in listed if what == "before" else ": rewritten " in listed
        if not good:
            sys.exit("%s, %s: %s" % (name, what, listed or "no answer"))
    count += 1
assert count >= 10
