# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command with a folder in front of PATH. with_path.py FOLDER COMMAND..."""

import os
import sys

os.environ["PATH"] = sys.argv[1] + os.pathsep + os.environ["PATH"]
os.execvp(sys.argv[2], sys.argv[2:])
