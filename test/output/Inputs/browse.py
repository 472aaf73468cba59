# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Opens a page in headless Chromium, without a network, and prints the document that
its scripts made. A message on the console is an error.

browse.py PAGE [SCREENSHOT.png [WIDTHxHEIGHT]]
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

page = pathlib.Path(sys.argv[1]).resolve().as_uri()
program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def run(*arguments):
    with tempfile.TemporaryDirectory() as profile:
        return subprocess.run(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
             "--disable-dev-shm-usage", "--user-data-dir=" + profile, "--host-resolver-rules=MAP * ~NOTFOUND",
             "--virtual-time-budget=4000", "--enable-logging=stderr", *arguments, page],
            capture_output=True, text=True, timeout=120, env=dict(os.environ, HOME=profile))


result = run("--dump-dom")
complaints = [line for line in result.stderr.splitlines() if "CONSOLE" in line]
if complaints or result.returncode:
    sys.exit("\n".join(complaints) or result.stderr)
# Without the scripts: what they hold is no sign that they ran.
sys.stdout.write(re.sub(r"<script.*?</script>", "", result.stdout, flags=re.S))
if len(sys.argv) > 2:
    size = sys.argv[3] if len(sys.argv) > 3 else "1400x2400"
    run("--screenshot=" + os.path.abspath(sys.argv[2]), "--window-size=" + size.replace("x", ","))
    with open(sys.argv[2], "rb") as f:
        assert f.read(8) == b"\x89PNG\r\n\x1a\n"
