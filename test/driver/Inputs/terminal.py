# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a program with a terminal and prints what it printed there.

terminal.py PROGRAM ARGUMENT...
"""

import pty
import sys

sys.exit(pty.spawn(sys.argv[1:]) >> 8)
