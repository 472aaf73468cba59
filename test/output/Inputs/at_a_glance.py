#!/usr/bin/env python3
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the page says of caps and conditions, against the report inside it.

at_a_glance.py PAGE.html DOM: each rule that a candidate names has its reason in the
report, and one that is shown is explained on the page; no two conditions of a list
begin with the same words.
"""

import html
import json
import re
import sys

page, dom = (open(name, encoding="utf-8").read() for name in sys.argv[1:])
report = json.loads(re.search(r'<script type="application/json" id="report">(.*?)</script>', page, re.S).group(1))
kernels = [k for file in report["files"] for k in file["kernels"]]
capped = 0
for kernel in kernels:
    choice = kernel.get("choice", {"candidates": []})
    named = {name for c in choice["candidates"] for name in c["caps"]}
    assert named == {r["cap"] for r in choice.get("capReasons", [])}, (kernel["name"], named)
    capped += len(named)
assert capped, "no candidate is capped"
shown = set(re.findall(r"\(capped: ([a-z-]+)\)", dom))
assert shown, "no cap is shown"
text = html.unescape(dom)
reasons = {r["cap"]: r["why"] for k in kernels for r in k.get("choice", {}).get("capReasons", [])}
for name in shown:
    assert "<b>capped: %s</b>: less is claimed than the counts say, as %s" % (name, reasons[name]) in text, name

lists = 0
for part in dom.split("When it runs</h3>")[1:]:
    items = [re.split(r" ?<code", i)[0] for i in re.findall(r"<li>(.*?)</li>", part.split("</ul>")[0])]
    assert items and len(items) == len(set(items)), items
    lists += 1
assert lists == sum("plan" in k for k in kernels)
