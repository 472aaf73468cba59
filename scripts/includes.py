#!/usr/bin/env python3
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each source includes what it uses: it is parsed without the precompiled headers.

    includes.py [--build=FOLDER] [-j N] [FILE...]

FOLDER (default: build) has compile_commands.json. Without FILEs all sources are
parsed, which takes a quarter of an hour on two cores: part of test.sh --slow.
"""

import argparse
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys


def without_precompiled(command):
    """The command line that only parses, or None where it is not clang's."""
    words, out, at = shlex.split(command), [], 0
    start = next((i for i, w in enumerate(words) if os.path.basename(w).startswith("clang++")), None)
    if start is None:
        return None
    words = words[start:]
    while at < len(words):
        if words[at] == "-Xclang" and words[at + 1] in ("-include-pch", "-include"):
            at += 4  # and -Xclang FILE
        elif words[at] == "-o":
            at += 2
        else:
            if words[at] != "-Winvalid-pch":
                out.append("-fsyntax-only" if words[at] == "-c" else words[at])
            at += 1
    return out


def sources_of(path):
    """The sources that are compiled as path: itself, or those of one that CMake made of
    several (RCACHE_SOURCES_AT_ONCE)."""
    if os.sep + "Unity" + os.sep not in path:
        return [path]
    with open(path, encoding="utf-8") as f:
        return re.findall(r'^#include "(.+)"$', f.read(), re.MULTILINE)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("-j", type=int, default=os.cpu_count())
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    with open(os.path.join(args.build, "compile_commands.json"), encoding="utf-8") as f:
        entries = json.load(f)
    wanted = {os.path.realpath(f) for f in args.files}
    jobs = {}
    for entry in entries:
        path = os.path.realpath(os.path.join(entry["directory"], entry["file"]))
        command = without_precompiled(entry["command"])
        if not command or "-include-pch" not in entry["command"]:
            continue
        for source in map(os.path.realpath, sources_of(path)):
            if not wanted or source in wanted:
                jobs[source] = (entry["directory"], command[:-1] + [source])
    if wanted - set(jobs):
        sys.exit("includes: not compiled with precompiled headers: " + ", ".join(sorted(wanted - set(jobs))))

    def parse(job):
        return subprocess.run(job[1], cwd=job[0], capture_output=True, text=True)

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(args.j) as pool:
        for path, result in zip(jobs, pool.map(parse, jobs.values())):
            if result.returncode:
                failed += 1
                print("%s:\n%s" % (os.path.relpath(path), result.stderr))
    if failed:
        sys.exit("includes: %d of %d sources need what they do not include" % (failed, len(jobs)))
    print("includes: %d sources include what they use" % len(jobs))


if __name__ == "__main__":
    main()
