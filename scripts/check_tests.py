#!/usr/bin/env python3
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A lit test that starts a program that not every build or machine has says so.

    check_tests.py [FOLDER...]     default: test and check/test

What a RUN line uses needs its feature in a REQUIRES line, in the condition of the
"%if feature %{ ... %}" around it, or in a lit.local.cfg that leaves its folder out.
"""

import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Features by what stands in a RUN line. check/test is only there with its checker.
WORD = r"(?<![\w./%%-])%s(?![\w./-])"
NEEDS = [(WORD % program, program) for program in (
    "rcache-check", "rcache-fuzz", "rcache-lsp", "nvim", "emacs", "cmake", "ninja", "make", "man", "chromium")]
NEEDS += [
    (WORD % "np[mx]", "npm-packages"),
    (r"%(?:nvcc|cuda|clang-cuda|cmake-args)(?![\w-])", "cuda-toolkit"),
]
IMPLIED = {"check/test": {"rcache-check"}}
RUN = re.compile(r"^\W*RUN:(.*)$", re.M)
REQUIRES = re.compile(r"^\W*REQUIRES:(.*)$", re.M)
CONDITION = re.compile(r"%if\s+(.*?)\s*%\{((?:(?!%if\b|%\}).)*)%\}", re.S)


def granted(condition):
    """The features without which a condition does not hold."""
    terms = re.split(r",|&&", condition)
    return {t.strip() for t in terms if re.fullmatch(r"[\w-]+", t.strip())}


def commands(text):
    """[(features that hold, commands)] of the RUN lines."""
    lines = "\n".join(RUN.findall(text)).replace("\\\n", " ")
    always = granted(",".join(REQUIRES.findall(text)))
    while m := CONDITION.search(lines):
        yield always | granted(m[1]), m[2]
        lines = lines[:m.start()] + lines[m.end():]
    yield always, lines


def excluded(folder, top):
    """The features without which a lit.local.cfg leaves a folder out."""
    found = set()
    while True:
        local = os.path.join(folder, "lit.local.cfg")
        if os.path.exists(local):
            with open(local, encoding="utf-8") as f:
                found |= set(re.findall(r'if "([\w-]+)" not in config\.available_features:\s*config\.unsupported', f.read()))
        if os.path.realpath(folder) == os.path.realpath(top):
            return found
        folder = os.path.dirname(folder)


def main():
    tops = sys.argv[1:] or [os.path.join(ROOT, "test"), os.path.join(ROOT, "check", "test")]
    count, found = 0, []
    for top in tops:
        for path in sorted(glob.glob(os.path.join(top, "**", "*"), recursive=True)):
            if not path.endswith((".cu", ".test")) or "/Inputs/" in path[len(top):]:
                continue
            with open(path, encoding="utf-8", errors="replace") as f:
                text = f.read()
            if not RUN.search(text):
                continue
            count += 1
            outside = excluded(os.path.dirname(path), top) | IMPLIED.get(os.path.relpath(top, ROOT), set())
            missing = {feature for features, command in commands(text) for pattern, feature in NEEDS
                       if re.search(pattern, command) and feature not in features | outside}
            found += ["%s: uses what needs '%s' without REQUIRES or %%if" % (os.path.relpath(path, ROOT), feature)
                      for feature in sorted(missing)]
    for line in found:
        print(line)
    if not found:
        print("tests: %d say what they need" % count)
    return 1 if found or not count else 0


if __name__ == "__main__":
    sys.exit(main())
