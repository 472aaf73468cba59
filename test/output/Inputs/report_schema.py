# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares reports with docs/report.md: every field that is written is documented
where it stands, and every documented field is written somewhere. Checks that the
numbers of WINDOW agree with each other.

    report_schema.py docs/report.md REPORT.json...
"""

import json
import re
import sys

document, *reports = sys.argv[1:]

# {section: fields named in it}; the top level is the example.
with open(document) as f:
    text = f.read()
sections = {"": set(re.findall(r'^      "(\w+)":', text, re.M))}
for part in re.split(r"^(?=\*\*[A-Z]+\*\*)", text.split("\n## ")[0], flags=re.M)[1:]:
    name = re.match(r"\*\*([A-Z]+)\*\*", part).group(1)
    sections[name] = set(re.findall(r"`(\w+)`", part))
# Objects inside of objects, by the field that holds them.
INNER = {"files": "FILE", "kernels": "KERNEL", "declines": "DECLINE", "plan": "PLAN", "distribution": "WINDOW",
         "choice": "CHOICE", "links": "LINK", "resources": "RESOURCES", "pressure": "PRESSURE",
         "contract": "CONTRACT", "steps": "STEP", "original": "CHOICE FIGURES", "candidates": "CHOICE FIGURES"}
used = {name: set() for name in sections}
problems = set()


def check(value, where):
    if isinstance(value, list):
        for item in value:
            check(item, where)
    if not isinstance(value, dict):
        return
    for field, inner in value.items():
        homes = [s for s in where.split(" ") if field in sections[s]] if where else [""] * (field in sections[""])
        # `original...` stands for a group of fields.
        grouped = where == "PLAN" and field.startswith("original")
        if not homes and not grouped:
            problems.add("not documented in %s: %s" % (where or "the report", field))
        for home in homes:
            used[home].add(field)
        check(inner, INNER.get(field, where))


def check_owned(w):
    """Every move of every lane brings the element that the step says."""
    chunks = w["detail"].startswith("chunks")
    elements = [e for lane in w["held"] for e in lane if e >= 0]
    assert len(w["held"]) == 32 and sorted(elements) == list(range(len(elements)))
    for step in w["steps"]:
        assert step["moves"] and step["words"]
        for move in step["moves"]:
            for lane in range(32):
                mine, register = w["held"][lane][move["register"]], move["fromRegister"]
                if step["kind"] == "of-all":
                    source, wanted = move["laneDistance"], step["by"]
                elif step["kind"] == "flipped":
                    source, wanted = lane ^ move["laneDistance"], mine ^ step["by"]
                else:
                    source, wanted = lane + move["laneDistance"], mine + step["by"]
                    if not chunks:
                        register += source // 32
                        source %= 32
                if mine < 0 or wanted not in elements:
                    continue
                assert w["held"][source][register] == wanted, (step, move, lane)


def check_window(w):
    assert w["exchange"] in ("shuffle", "reload", "direct", "shared", "owned", "restage", "private") and 1 <= w["lanes"] <= 32
    assert w["words"] and ("held" in w) == ("steps" in w) == (w["exchange"] == "owned")
    assert ("layout" in w) or w["exchange"] not in ("restage", "private")
    assert ("layout" not in w) or w["exchange"] in ("restage", "private", "shared")
    if "held" in w:
        check_owned(w)
    own = {c["fromRegister"]: c["element"] for c in w["window"] if c["from"] == "own"}
    count = 1
    for n in w["extent"]:
        count *= n
    assert len(w["window"]) == (count if w["extent"] else 0)
    for c in w["window"]:
        assert (c["from"] == "shuffle") == (w["exchange"] == "shuffle" and c["from"] != "own")
        # The source lane loads just this element into that register.
        if c["from"] == "shuffle" and c["fromRegister"] in own:
            source = [e + c["laneDistance"] * s for e, s in zip(own[c["fromRegister"]], w["laneStep"])]
            assert source == c["element"], (c, source)
    return sum(c["from"] == "shuffle" for c in w["window"])


shuffled = 0
exchanges = set()
for name in reports:
    with open(name) as f:
        report = json.load(f)
    assert report["schema"] == 1
    check(report, "")
    for file in report["files"]:
        for kernel in file["kernels"]:
            assert (kernel["verdict"] == "rewritten") == ("plan" in kernel) == ("distribution" in kernel)
            assert (kernel["verdict"] == "declined") == bool(kernel["declines"]) or kernel["verdict"] == "not-shared"
            assert not kernel["verdict"] == "rewritten" or kernel["plan"]["conditions"]
            exchanges |= {w["exchange"] for w in kernel.get("distribution", [])}
            shuffled += sum(check_window(w) for w in kernel.get("distribution", []))
assert shuffled, "no shuffle in any report"
assert exchanges >= {"shuffle", "reload", "shared", "owned", "restage", "private"}, exchanges
# Not in the reports of the test: they need a device, or errors in the source.
# (RESOURCES and PRESSURE: nvcc; test/selfcheck/registers-list.cu has them.)
RARE = {"resources", "pressure", "excluded", "barrierReason", "constantsFrom", "compiledRegisters", "compiledSpillBytes", "perOutput", "errors"}
for section, fields in sections.items():
    if section in ("RESOURCES", "PRESSURE"):
        continue
    for field in fields - used[section] - RARE:
        # A word of the text, not a field: only tables and lists of fields count.
        if re.search(r"^\|[^|]*`%s`[^|]*\|" % field, text, re.M) and not any(field in u for u in used.values()):
            problems.add("documented in %s, never written: %s" % (section or "the report", field))
if problems:
    sys.exit("\n".join(sorted(problems)))
