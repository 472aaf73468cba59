#!/usr/bin/env python3
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the tests of one build folder: lit suites and unit tests.

Prints what fails and ends with the line `N passed, N failed`, in which every lit
test and every GoogleTest case counts once; tests that do not apply (unsupported,
skipped) count as neither. Exit status 1 when something failed or nothing ran.
"""

import argparse
import concurrent.futures
import glob
import json
import os
import subprocess
import sys
import tempfile

PASSED_CODES = {"PASS", "FLAKYPASS", "XFAIL"}
FAILED_CODES = {"FAIL", "XPASS", "UNRESOLVED", "TIMEOUT"}


def run_lit(lit, build, jobs, only):
    """(passed, failed, skipped) over the lit suites of the build folder: all, or
    the folders `only` of test/."""
    suites = [
        os.path.join(build, *parts)
        for parts in (("test",), ("check", "test"))
        if os.path.exists(os.path.join(build, *parts, "lit.site.cfg.py"))
    ]
    if only:
        suites = [os.path.join(build, "test", folder) for folder in only]
    if not suites:
        return 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "lit.json")
        status = subprocess.call([lit, "-v", "-j", str(jobs), "-o", out] + suites)
        try:
            with open(out) as f:
                tests = json.load(f)["tests"]
        except (OSError, ValueError) as error:
            print("lit left no result: %s" % error)
            return 0, 1, 0
    for t in tests: # once more at the end: logs that are cut keep their end
        if t["code"] in FAILED_CODES:
            print("\n---- %s\n%s" % (t["name"], t.get("output", "")[-2000:]))
    codes = [t["code"] for t in tests]
    passed = sum(c in PASSED_CODES for c in codes)
    failed = sum(c in FAILED_CODES for c in codes)
    if status and not failed:
        failed = 1
    return passed, failed, len(codes) - passed - failed


def run_unit_test(program):
    """(passed, failed, skipped) of one GoogleTest program."""
    name = os.path.basename(program)
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "gtest.json")
        result = subprocess.run(
            [program, "--gtest_brief=1", "--gtest_output=json:" + out],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        try:
            with open(out) as f:
                suites = json.load(f)["testsuites"]
        except (OSError, ValueError):
            suites = None
    cases = [c for s in suites or [] for c in s["testsuite"]]
    failed = sum("failures" in c for c in cases)
    skipped = sum(c.get("result") == "SKIPPED" for c in cases)
    passed = len(cases) - failed - skipped
    # A crash leaves no result file, or one that says nothing of the crash.
    if result.returncode and not failed:
        failed = 1
    text = "%s: %d passed, %d failed\n" % (name, passed, failed)
    if failed:
        text += result.stdout.decode(errors="replace")
    sys.stdout.write(text) # at once: others print as well
    return passed, failed, skipped


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--lit", default="lit")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", nargs="+", metavar="FOLDER",
                        help="the lit tests of these folders of test/ alone")
    args = parser.parse_args()

    programs = [
        program
        for folder in (("unittests",), ("check", "unittests"))
        for program in sorted(glob.glob(os.path.join(args.build, *folder, "*")))
        if os.path.isfile(program) and os.access(program, os.X_OK)
    ]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        counts = list(pool.map(run_unit_test, programs))
    sys.stdout.flush()
    counts.append(run_lit(args.lit, os.path.abspath(args.build), args.jobs,
                          args.only))

    passed, failed, skipped = (sum(column) for column in zip(*counts))
    if skipped:
        print("%d not applicable here" % skipped)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
