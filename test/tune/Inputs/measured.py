# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A file of measurements made by hand, for what --tune-emit wrote.

measured.py EMITTED OUT ARCH ORIGINAL_MS CANDIDATE=FIGURE...

CANDIDATE is a name like c0, or * for the others; FIGURE is a time, `differs` or
`failed`. Candidates that are not named are left out.
"""

import json
import pathlib
import sys

folder, out, arch, original = sys.argv[1:5]
figures = dict(word.split("=") for word in sys.argv[5:])
entries = []
for what in sorted(pathlib.Path(folder).glob("*/*.what")):
    figure = figures.get(what.stem, figures.get("*"))
    if figure is None:
        continue
    entry = json.loads("{" + what.read_text() + "}")
    entry.update(device="Test GPU", arch=arch, shape="grid 7x1x1", sameBits=True)
    if figure == "differs":
        entry.update(sameBits=False)
    elif figure == "failed":
        entry.update(failed="it did not end well")
    else:
        entry.update(milliseconds=float(figure), originalMilliseconds=float(original))
    entries.append(entry)
assert entries, "nothing was emitted"
with open(out, "w") as f:
    json.dump({"measurements": entries}, f)
