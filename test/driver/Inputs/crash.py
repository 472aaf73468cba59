# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Starts a program that waits for its standard input, sends it SIGSEGV, prints what
it printed.

crash.py PROGRAM ARGUMENT...
"""

import signal
import subprocess
import sys
import time

child = subprocess.Popen(
    sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
)
time.sleep(1)
child.send_signal(signal.SIGSEGV)
sys.stdout.write(child.communicate()[0])
