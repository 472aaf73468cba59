# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the launch functions of a rewritten file ask, and what its report says that has
to hold: the same number of clauses, and words for each question to the device.

conditions.py REPORT.json REWRITTEN.cu
"""

import json
import re
import sys

WORDS = {"launches<": "what fails has to fail", "holds(": "bytes of dynamic shared memory", "fills(": "threads in the grid",
         "aligned(": "aligned for vectors", "waves_pay(": "whole waves of blocks"}

with open(sys.argv[1]) as f:
    kernels = [k for file in json.load(f)["files"] for k in file["kernels"] if "plan" in k]
with open(sys.argv[2]) as f:
    text = f.read()


def clauses(condition):
    """How many operands the && outside of parentheses have."""
    depth, count = 0, 1
    for i, c in enumerate(condition):
        depth += (c == "(") - (c == ")")
        count += depth == 0 and condition[i:i + 2] == "&&"
    return count


seen = set()
for kernel in kernels:
    name = kernel["contract"]["function"].split("(")[0].split()[-1]
    body = re.search(r"static inline void %s\(.*?\n}\n" % name, text, re.S).group(0)
    condition = re.search(r"\n\s*if \((.*?)\n#ifdef RCACHE_VERIFY", body, re.S).group(1)
    said = kernel["plan"]["conditions"]
    assert clauses(condition) == len(said), (condition, said)
    for question, words in WORDS.items():
        asked = "::rcache::device::" + question in condition
        assert asked == any(words in s for s in said), (question, condition, said)
        seen |= {question} if asked else set()
    for p in kernel["plan"]["preconditions"]:
        assert any(s.startswith(p["condition"]) for s in said), p
assert seen >= {"launches<", "holds("}, seen
