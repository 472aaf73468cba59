#!/usr/bin/env python3
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every option of a program (--help-hidden) with a wrong value, and without one.

usage.py PROGRAM [COMMAND]. What is said names the option and what it takes; cl's own words
("for the --x option: ...") are never heard, and the status is 2.
"""

import re
import subprocess
import sys

program = sys.argv[1:]
REPEATED = ("--flags-file",)  # may be there several times
GENERIC = ("-h", "--help", "--help-hidden", "--help-list", "--help-list-hidden", "--version")


def say(*arguments):
    ran = subprocess.run([*program, *arguments], stdin=subprocess.DEVNULL,
                         capture_output=True, text=True, timeout=60)
    return ran.returncode, ran.stderr


def expect(words, *arguments):
    status, text = say(*arguments)
    good = status == 2 and "for the -" not in text and words in text
    if not good:
        print("%s %s: status %d, wanted '%s'\n%s" % (" ".join(program), " ".join(arguments), status, words, text))
    return good


shown = subprocess.run([*program, "--help"], capture_output=True, text=True).stdout
options = {}  # name -> (what its value is called or None, words it may be)
for line in subprocess.run([*program, "--help-hidden"], capture_output=True, text=True).stdout.splitlines():
    if match := re.match(r"  (--?[a-z][a-z-]*)(?:[ =]<(.+?)>)?( |$)", line):
        name, value = match.group(1), match.group(2)
        options[name] = (value, [])
    elif match := re.match(r"    =([a-z0-9-]+) ", line + " "):
        options[name][1].append(match.group(1))

good = len(options) > 3
seen = {"words": 0, "numbers": 0, "values": 0, "none": 0, "files": 0}
for name, (value, words) in sorted(options.items()):
    if name in GENERIC:
        continue
    if words:
        takes = ", ".join(words[:-1]) + " or " + words[-1]
        good &= expect("%s takes %s, not 'no-such'" % (name, takes), name + "=no-such")
        good &= expect("%s needs a value: %s" % (name, takes), name)
        seen["words"] += 1
    elif value:
        good &= expect("%s needs a value" % name, name)
        seen["values"] += 1
        if value in ("N", "ms", "seconds", "bytes", "uint", "ulong", "number"):
            good &= expect("%s takes " % name, name, "many")
            seen["numbers"] += 1
    else:
        good &= expect("%s takes no value" % name, name + "=no-such")
        seen["none"] += 1
    near = name[:-1] + ("x" if name[-1] != "x" else "y")
    if len(name) > 5 and near not in options and name in shown:
        good &= expect("there is no option '%s'; did you mean '" % near, near)
    if value and value.startswith("file") and name not in REPEATED:
        good &= expect("%s is there twice: 'a' and 'b'" % name, name, "a", name, "b")
        seen["files"] += 1
# Commands of a program have fewer, and the server writes no file.
good &= seen["values"] > 0
good &= len(program) > 1 or all(count for kind, count in seen.items() if kind != "files")
good &= subprocess.run([*program, "-h"], capture_output=True, text=True).stdout == shown
print(seen)
sys.exit(0 if good else 1)
