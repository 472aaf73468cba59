# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the `resources` of a report with what ptxas says itself.

same_registers.py REPORT.json NVCC_OUTPUT name=part-of-mangled-name...

Every kernel that has resources is to be named; a part that stands in no entry, or in
several, is an error.
"""
import json
import re
import sys

report, output, *pairs = sys.argv[1:]
with open(output) as f:
    text = f.read()
ENTRY = re.compile(
    r"entry function '(\S+)' for '(\w+)'.*?(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads"
    r".*?Used (\d+) registers([^\n]*)", re.S)
said = {m[1]: (m[2], int(m[6]), int(m[3]), int(m[4]), int(m[5]),
               int((re.search(r"(\d+) bytes smem", m[7]) or [0, 0])[1])) for m in ENTRY.finditer(text)}
with open(report) as f:
    kernels = json.load(f)["files"][0]["kernels"]
parts = dict(p.split("=") for p in pairs)
found = {k["name"]: k["resources"] for k in kernels if "resources" in k}
assert set(found) == set(parts), (sorted(found), sorted(parts))
for name, r in found.items():
    entries = [e for e in said if parts[name] in e]
    assert len(entries) == 1, (name, entries)
    told = (r["arch"], r["registers"], r["stackBytes"], r["spillStoreBytes"], r["spillLoadBytes"], r["staticSharedBytes"])
    assert told == said[entries[0]], (name, told, said[entries[0]])
    threads = r["block"][0] * r["block"][1] * r["block"][2]
    assert r["warpsPerSm"] == r["blocksPerSm"] * ((threads + 31) // 32), name
    assert abs(r["occupancy"] - r["warpsPerSm"] / 64) < 1e-9, name
print("same")
