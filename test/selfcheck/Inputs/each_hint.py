# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the text of each candidate and compares what ptxas says with the report's
PRESSURE; bounds that were asked for have to hold.

each_hint.py REPORT.json FOLDER NVCC ARGUMENT...
"""
import json
import pathlib
import re
import subprocess
import sys

report, folder, *nvcc = sys.argv[1:]
with open(report) as f:
    kernel = json.load(f)["files"][0]["kernels"][0]
spilling = 0
# Every third of the bounds, all that spill to shared memory.
for n, c in enumerate(kernel["choice"]["candidates"]):
    shared = c["form"].endswith("spilling to shared memory")
    if "pressure" not in c or (n % 3 and not shared):
        continue
    text = pathlib.Path(folder, "many.c%d.cu" % n)
    assert bool(re.search(r'^ *asm volatile\("\.pragma', text.read_text(), re.M)) == shared, text
    done = subprocess.run([*nvcc, "-cubin", "-Xptxas", "-v", "-o", str(text) + ".cubin", str(text)],
                          capture_output=True, text=True, check=True)
    m = re.search(r"entry function '\S*7many_rc\S*'.*?(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill "
                  r"loads.*?Used (\d+) registers([^\n]*)", done.stderr, re.S)
    smem = re.search(r"(\d+) bytes smem", m[5])
    p = c["pressure"]
    assert (p["stackBytes"], p["spillStoreBytes"], p["spillLoadBytes"], p["registers"], p["staticSharedBytes"]) == (
        int(m[1]), int(m[2]), int(m[3]), int(m[4]), int(smem[1]) if smem else 0), (c["form"], p, m.groups())
    blocks = re.search(r", (\d+) blocks? an SM", c["form"])
    if blocks and not shared:
        assert p["warpsPerSm"] >= 4 * int(blocks[1]), (c["form"], p)
    spilling += shared
assert spilling >= 2, "nothing spills to shared memory"
