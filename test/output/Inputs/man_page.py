# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the options of a program's --help with those of its manual page.

man_page.py PROGRAM PAGE
"""

import re
import subprocess
import sys

program, page = sys.argv[1:]
shown = subprocess.run([program, "--help"], capture_output=True, text=True, check=True)
in_help = set(re.findall(r"^ +(--?[a-z][\w-]*)", shown.stdout, re.M))
in_help -= {"--help", "--help-hidden", "--help-list", "--version"}
with open(page) as f:
    text = f.read().replace("\\-", "-")
in_page = set()
for line in re.findall(r"^\.T[PQ]\n(\..*)$", text, re.M):
    in_page |= set(re.findall(r"(?:^|[ ,\"])(--?[a-z][\w-]*)", line))
in_page -= {"-q", "--version"}  # an alias, which --help keeps to itself; as above
if in_help != in_page:
    sys.exit(
        "not in the page: %s; not in --help: %s"
        % (sorted(in_help - in_page), sorted(in_page - in_help))
    )
