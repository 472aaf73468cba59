#!/usr/bin/env python3
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keeps the table of declines, its documentation and its tests together.

    check_declines.py            checks; exit status 1 when something is missing
    check_declines.py --write    writes docs/declines.md and docs/declines/ from the table

A page of docs/declines/ has an example, docs/declines/after/CODE.cu, with a kernel
that gets the code and one that is rewritten (test/docs/declines.test tries both):

    // before [with OPTIONS]
    ...
    // after [with OPTIONS][: a remark]
    ...

Where nothing can be done, "// no after: why" ends the first part; where no source gets
the code, the file is "// none: why". "//--- NAME" begins a file that is included.

Checked: docs/declines.md and docs/declines/ are what --write makes; every code of the
table has an example, has the name that its spelling has as DeclineCode, is given
somewhere in lib/ or tool/ and appears in a test (test/ or unittests/).
"""

import argparse
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TABLE = os.path.join(ROOT, "lib", "Support", "Declines.def")
PAGE = os.path.join(ROOT, "docs", "declines.md")
FOLDER = os.path.join(ROOT, "docs", "declines")

GROUPS = {
    "source": "The code itself hides what the kernel does.",
    "geometry": "What is known of blocks, grids and launches.",
    "access": "Which shared element is touched by whom.",
    "order": "What the barriers order.",
    "plan": "Understood, but no plan serves it.",
    "gain": "Sound, but not worth it.",
}

ENTRY = re.compile(
    r'DECLINE\(\s*(\w+)\s*,\s*"([^"]+)"\s*,\s*"([^"]+)"\s*,\s*((?:"(?:[^"\\]|\\.)*"\s*)+),'
    r'\s*((?:"(?:[^"\\]|\\.)*"\s*)+)(?:,[\s\w|]*)?\)'
)
EXAMPLE = re.compile(
    r"// before(?: with (?P<before_with>[^\n]*))?\n(?P<before>.*)"
    r"(?:// after(?: with (?P<after_with>[^\n:]*))?(?:: (?P<remark>[^\n]*))?\n(?P<after>.*)"
    r"|// no after: (?P<why>[^\n]*)\n)",
    re.S,
)
NO_EXAMPLE = re.compile(r"// none: ([^\n]*)\n")
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


def name_of(code):
    """The code as DeclineCode: NoShared of no-shared."""
    return "".join(word.capitalize() for word in code.split("-"))


def table():
    """[(code, group, text, advice)] in table order."""
    with open(TABLE, encoding="utf-8") as f:
        source = re.sub(r"//.*", "", f.read())
    join = lambda literals: "".join(STRING.findall(literals)).replace('\\"', '"')
    entries = [(m[2], m[3], join(m[4]), join(m[5])) for m in ENTRY.finditer(source)]
    for m in ENTRY.finditer(source):
        if m[1] != name_of(m[2]):
            sys.exit("%s is named %s in %s, not %s" % (m[2], m[1], TABLE, name_of(m[2])))
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
                lines.append("| [`%s`](declines/%s.md) | %s | %s |" % (code, code, cell(text), cell(advice)))
        lines.append("")
    return "\n".join(lines)


def sentence(clause):
    return clause[0].upper() + clause[1:] + "."


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def example(code):
    """[(heading, source, remark)] for the page of a code."""
    path = os.path.join(FOLDER, "after", code + ".cu")
    if not os.path.exists(path):
        return []
    text = read(path)
    if none := NO_EXAMPLE.fullmatch(text):
        return [("Example", "", none[1])]
    m = EXAMPLE.fullmatch(text)
    if not m:
        sys.exit(path + ": no '// before' and '// after'")
    heading = lambda what, options: what + (", with `%s`" % options if options else "")
    before = (heading("Before", m["before_with"]), m["before"], "")
    if m["why"]:
        return [("A kernel that gets this answer", m["before"], ""), ("After", "", "There is none. " + m["why"])]
    after = heading("After", m["after_with"])
    if m["before"] == m["after"]:  # options alone make the difference
        return [before, (after, "", m["remark"] or "The same kernel is rewritten.")]
    return [before, (after, m["after"], m["remark"] or "")]


def code_page(code, group, text, advice):
    lines = ["<!-- Generated by scripts/check_declines.py --write. -->", "", "# `%s`" % code, "",
             sentence(text), "", "**What would help:** %s." % advice, "",
             "Group: %s. %s" % (group, GROUPS[group]), ""]
    for heading, source, remark in example(code):
        lines += ["## " + heading, ""] + ([remark, ""] if remark else [])
        lines += ["```cuda", source.rstrip("\n"), "```", ""] if source else []
    return "\n".join(lines + ["[All codes](../declines.md)", ""])


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
    wanted = {e[0] + ".md": code_page(*e) for e in entries}
    present = {n for n in os.listdir(FOLDER) if n.endswith(".md")} if os.path.isdir(FOLDER) else set()
    for name in sorted(present | set(wanted)):
        if name not in wanted or name not in present or read(os.path.join(FOLDER, name)) != wanted[name]:
            yield "docs/declines/%s is not that of the table: run scripts/check_declines.py --write" % name
    codes = {e[0] for e in entries}
    examples = {n[:-len(".cu")] for n in os.listdir(os.path.join(FOLDER, "after"))}
    for code in sorted(codes - examples):
        yield "%s: docs/declines/after/%s.cu is not there" % (code, code)
    for code in sorted(examples - codes):
        yield "docs/declines/after/%s.cu: there is no such code" % code
    code_text = all_text("lib", "tool")
    tests = all_text("test", "unittests")
    for code, group, _, _ in entries:
        if group not in GROUPS:
            yield "%s: unknown group '%s'" % (code, group)
        # Or spelled, as where a fault in written text is found.
        if not re.search(r'DeclineCode::%s\b|"%s"' % (name_of(code), code), code_text):
            yield "%s: in the table, but nothing in lib/ or tool/ gives it" % code
        if not re.search(r"(?<![\w-])%s(?![\w-])" % re.escape(code), tests):
            yield "%s: has no test" % code


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    entries = table()
    if args.write:
        with open(PAGE, "w", encoding="utf-8") as f:
            f.write(page(entries))
        os.makedirs(FOLDER, exist_ok=True)
        for name in os.listdir(FOLDER):
            if name.endswith(".md"):
                os.remove(os.path.join(FOLDER, name))
        for entry in entries:
            with open(os.path.join(FOLDER, entry[0] + ".md"), "w", encoding="utf-8") as f:
                f.write(code_page(*entry))
        return 0
    found = list(problems(entries))
    for line in found:
        print(line)
    if not found:
        print("declines: %d codes, each documented, given and tested" % len(entries))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
