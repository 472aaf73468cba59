#!/usr/bin/env python3
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that files of lib/ have at most 600 lines and functions at most 80.

    check_sizes.py            prints what is longer; exit status 1 when there is something
    check_sizes.py --all      what has a reason as well, longest first

What is longer says why in its head, the file's or the comment in front of the function:

    // Long: one rule of the language a case; the switch is the table.

A function's lines are those from its declarator's first to its last brace. Classes and
namespaces are looked into, lambdas and local classes count as lines of the function around
them.
"""

import argparse
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MOST_LINES, MOST_OF_FUNCTION = 600, 80
REASON = re.compile(r"^\s*//+ Long: \S", re.M)

# What is no code: comments, literals (raw ones with their delimiter), preprocessor lines.
NO_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<d>[^()\s\\"]{0,16})\(.*?\)(?P=d)"'
    r'|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Za-z_])\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#(?:\\\n|[^\n])*', re.S | re.M)


def blanked(text):
    """The text with what is no code as spaces, line for line."""
    return NO_CODE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def heads(code):
    """(head, begin, end) of what braces enclose at namespace and class level.

    begin is where the head begins, end behind the closing brace."""
    begin, depth, opened = 0, 0, None
    for m in re.finditer(r"[{};]", code):
        at = m.start()
        if m[0] == "{":
            if depth == 0:
                head = code[begin:at]
                if is_scope(head):
                    begin = at + 1
                    continue
                opened = at
            depth += 1
        elif m[0] == "}":
            if depth == 0:  # of a namespace or class
                begin = at + 1
                continue
            depth -= 1
            if depth == 0:
                yield code[begin:opened], begin, at + 1
                # An initialiser of a member may stand in front of a body.
                if re.match(r"\s*(,|\{)", code[at + 1:at + 80]) and ")" in code[begin:opened]:
                    continue
                begin = at + 1
        elif depth == 0:
            begin = at + 1


def is_scope(head):
    head = re.sub(r"\b(public|private|protected)\s*:", " ", head)
    return bool(re.search(r"(^|\s)(namespace|class|struct|union|extern)\b", head)) and "(" not in re.sub(
        r"\([^()]*\)", "", re.sub(r"<[^<>]*>", "", head)) and not re.search(r"\)\s*(const|override)?\s*$", head)


def functions(text):
    """(name, line, lines, comment in front) of each function definition."""
    code = blanked(text)
    for head, begin, end in heads(code):
        clean = re.sub(r"\b(public|private|protected)\s*:", lambda m: " " * len(m[0]), head)
        if "(" not in clean or re.search(r"=\s*$", clean):
            continue
        first = begin + len(clean) - len(clean.lstrip())
        name = re.search(r"([\w:~]+|operator\s*\S+)\s*\(", clean)
        yield (name[1] if name else "?", text.count("\n", 0, first) + 1,
               text.count("\n", first, end) + 1, text[begin:first])


def files():
    for base, _, names in os.walk(os.path.join(ROOT, "lib")):
        for name in sorted(names):
            if name.endswith((".h", ".cpp")):
                yield os.path.join(base, name)


def found():
    """(lines, most, place, name, reason given) of all that is longer than it may be."""
    for path in files():
        with open(path, encoding="utf-8") as f:
            text = f.read()
        place = os.path.relpath(path, ROOT)
        lines = text.count("\n")
        if lines > MOST_LINES:
            head = re.match(r"(\s*//[^\n]*\n)*", text)[0]
            yield lines, MOST_LINES, place, "the file", bool(REASON.search(head))
        for name, line, length, before in functions(text):
            if length > MOST_OF_FUNCTION:
                yield length, MOST_OF_FUNCTION, "%s:%d" % (place, line), name, bool(REASON.search(before))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true")
    args = parser.parse_args()
    wrong = 0
    every = sorted(found(), reverse=True)
    for length, most, place, name, reason in every:
        wrong += not reason
        if args.all or not reason:
            print("%s: %s has %d lines, not %d%s" % (
                place, name, length, most,
                " (for a reason)" if reason else ""))
    if not wrong:
        print("sizes: files up to %d lines, functions up to %d; %d for a reason" % (
            MOST_LINES, MOST_OF_FUNCTION, sum(reason for *_, reason in every)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
