#!/usr/bin/env python3
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keeps the table of declines, its documentation and its tests together.

    check_declines.py            checks; exit status 1 when something is missing
    check_declines.py --write    writes docs/declines.md from the table

Checked: docs/declines.md is what --write makes; every code that lib/ can give is
in the table; every code of the table is given somewhere in lib/ and appears in a
test (test/ or unittests/).
"""

import argparse
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TABLE = os.path.join(ROOT, "lib", "Support", "Declines.def")
PAGE = os.path.join(ROOT, "docs", "declines.md")

GROUPS = {
    "source": "The code itself hides what the kernel does.",
    "geometry": "What is known of blocks, grids and launches.",
    "access": "Which shared element is touched by whom.",
    "order": "What the barriers order.",
    "plan": "Understood, but no plan serves it.",
    "gain": "Sound, but not worth it.",
}

ENTRY = re.compile(
    r'DECLINE\(\s*"([^"]+)"\s*,\s*"([^"]+)"\s*,\s*((?:"(?:[^"\\]|\\.)*"\s*)+),'
    r'\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\)'
)
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


def table():
    """[(code, group, text, advice)] in table order."""
    with open(TABLE, encoding="utf-8") as f:
        source = re.sub(r"//.*", "", f.read())
    join = lambda literals: "".join(STRING.findall(literals)).replace('\\"', '"')
    entries = [(m[1], m[2], join(m[3]), join(m[4])) for m in ENTRY.finditer(source)]
    if len(entries) != source.count("DECLINE("):
        sys.exit("check_declines.py cannot read every entry of " + TABLE)
    return entries


def page(entries):
    lines = [
        "<!-- Generated from lib/Support/Declines.def by",
        "     scripts/check_declines.py --write; change the table instead. -->",
        "",
        "# Why a kernel is left as it is",
        "",
        "A kernel that cannot be rewritten soundly, or that would not get faster, stays",
        "as it is; the tool then prints one of these codes at the place in the source",
        "that is the reason. The codes are stable: scripts may rely on them.",
        "",
    ]
    for group, meaning in GROUPS.items():
        lines += ["## " + group, "", meaning, "",
                  "| code | why | what would make it work |", "| --- | --- | --- |"]
        for code, g, text, advice in entries:
            if g == group:
                cell = lambda s: s.replace("|", "\\|").replace("<", "&lt;")
                lines.append("| `%s` | %s | %s |" % (code, cell(text), cell(advice)))
        lines.append("")
    return "\n".join(lines)


def all_text(*folders):
    text = ""
    for folder in folders:
        for base, _, names in os.walk(os.path.join(ROOT, folder)):
            for name in names:
                if name.endswith((".cpp", ".h", ".cu", ".cuh", ".test", ".py")):
                    with open(os.path.join(base, name), encoding="utf-8",
                              errors="replace") as f:
                        text += f.read()
    return text


def problems(entries):
    try:
        with open(PAGE, encoding="utf-8") as f:
            current = f.read()
    except OSError:
        current = ""
    if current != page(entries):
        yield "docs/declines.md is not that of the table: run scripts/check_declines.py --write"
    code_text = all_text("lib", "tool")
    tests = all_text("test", "unittests")
    for code, group, _, _ in entries:
        if group not in GROUPS:
            yield "%s: unknown group '%s'" % (code, group)
        if '"%s"' % code not in code_text:
            yield "%s: in the table, but nothing in lib/ gives it" % code
        if not re.search(r"(?<![\w-])%s(?![\w-])" % re.escape(code), tests):
            yield "%s: has no test" % code


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    entries = table()
    if args.write:
        with open(PAGE, "w", encoding="utf-8") as f:
            f.write(page(entries))
        return 0
    found = list(problems(entries))
    for line in found:
        print(line)
    if not found:
        print("declines: %d codes, each documented, given and tested" % len(entries))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
