# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The newest measurement of a kind: names begin with the date.

newest.py FOLDER SUFFIX
"""

import pathlib
import sys

print(max(pathlib.Path(sys.argv[1]).glob("*-" + sys.argv[2])))
