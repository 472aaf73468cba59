#!/usr/bin/env python3
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Does what a page of the documentation says.

    run_page.py [--write] [--env NAME=VALUE]... [--path FOLDER]... PAGE FOLDER

Everything happens in FOLDER, which is emptied first. In the page,

* a block ```console holds commands behind "$ " and what they print. They are run
  one after the other; a command that fails ends the run ("$ ! command": one that
  has to fail). What they print, on both streams, has to be what the page shows:
  "..." stands for any text, at the end of a line or as lines of their own, and any
  number for any other. With --write the page gets the numbers of this run.
* a block ```sh is run as a whole, by sh -e.
* <!-- file: NAME --> in front of a block writes it to NAME.
* <!-- part of: NAME --> in front of a block: its text is in that file, of FOLDER or
  else of the project; lines "..." stand for any.
* <!-- not run: REASON --> in front of a block leaves it out.
* <!-- needs: PROGRAM --> leaves it out where there is no such program.
* <!-- setup: COMMAND --> runs a command.

Environment: SRC is the project's folder.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NUMBER = re.compile(r"\d+(?:\.\d+)?")


def like(shown, printed):
    """Whether a line of the page stands for one that was printed."""
    pieces = [NUMBER.split(piece) for piece in shown.split("...")]
    pattern = ".*".join(r"\d+(?:\.\d+)?".join(map(re.escape, piece)) for piece in pieces)
    return re.fullmatch(pattern.rstrip(), printed.rstrip()) is not None


def match(shown, printed):
    """The printed lines for those of the page, or None: [(page line, text or None)]."""
    if not shown:
        return []
    if shown[0].strip() == "...":
        for skip in range(len(printed) + 1):
            rest = match(shown[1:], printed[skip:])
            if rest is not None:
                return [None] + rest
        return None
    if not printed or not like(shown[0], printed[0]):
        return None
    rest = match(shown[1:], printed[1:])
    return None if rest is None else [printed[0]] + rest


def refresh(shown, printed):
    """The line of the page with the numbers that were printed."""
    if "..." not in shown:
        return printed.rstrip()
    head = shown.split("...")[0]
    numbers = iter(NUMBER.findall(printed))
    return NUMBER.sub(lambda m: next(numbers), head) + shown[len(head):]


class Page:
    def __init__(self, path, folder, env):
        self.path, self.folder, self.env = path, folder, env
        with open(path, encoding="utf-8") as f:
            self.lines = f.read().split("\n")
        self.commands = 0
        self.problems = []

    def shell(self, command, strict=False):
        self.commands += 1
        return subprocess.run(["sh", "-ec" if strict else "-c", command], cwd=self.folder, env=self.env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace")

    def fail(self, line, text):
        self.problems.append("%s:%d: %s" % (os.path.relpath(self.path, ROOT), line + 1, text))

    def console(self, begin, end):
        at = begin
        while at < end and not self.problems:
            if not self.lines[at].startswith("$ "):
                return self.fail(at, "no command in front of what it prints")
            first, command = at, self.lines[at][2:]
            while command.endswith("\\") and at + 1 < end:
                at += 1
                command = command[:-1] + self.lines[at].lstrip("> ")
            out = at = at + 1
            while at < end and not self.lines[at].startswith("$ "):
                at += 1
            fails = command.startswith("! ")
            result = self.shell(command[2:] if fails else command)
            if (result.returncode != 0) != fails:
                return self.fail(first, "status %d\n%s" % (result.returncode, result.stdout))
            shown = self.lines[out:at]
            got = match(shown, result.stdout.rstrip("\n").split("\n") if result.stdout else [])
            if got is None:
                return self.fail(out, "prints something else:\n" + result.stdout)
            for i, text in enumerate(got):
                if text is not None:
                    self.lines[out + i] = refresh(shown[i], text)

    def part_of(self, name, begin, end):
        inside = os.path.join(self.folder, name)
        with open(inside if os.path.exists(inside) else os.path.join(ROOT, name), encoding="utf-8") as f:
            text = [line.rstrip() for line in f]
        shown = [line.rstrip() for line in self.lines[begin:end]]
        # Each run of lines between "..." is there as it is, behind the one before.
        at, run = 0, []
        for line in shown + ["..."]:
            if line.strip() != "...":
                run.append(line)
                continue
            while run and at + len(run) <= len(text) and text[at:at + len(run)] != run:
                at += 1
            if run and at + len(run) > len(text):
                return self.fail(begin, "is not in %s: %s" % (name, run[0]))
            at, run = at + len(run), []

    def run(self):
        marks = {}
        at = 0
        while at < len(self.lines) and not self.problems:
            line = self.lines[at]
            mark = re.fullmatch(r"<!-- (file|part of|not run|needs|setup): (.*) -->", line.strip())
            fence = re.fullmatch(r"```([\w+-]*)", line)
            at += 1
            if mark:
                if mark[1] == "setup":
                    result = self.shell(mark[2])
                    if result.returncode:
                        self.fail(at - 1, result.stdout)
                else:
                    marks[mark[1]] = mark[2]
            elif fence:
                begin = at
                while at < len(self.lines) and self.lines[at] != "```":
                    at += 1
                self.block(fence[1], begin, at, marks)
                marks = {}
                at += 1
            elif line.strip():
                marks = {}

    def block(self, kind, begin, end, marks):
        if "file" in marks:
            path = os.path.join(self.folder, marks["file"])
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as f:
                f.write("\n".join(self.lines[begin:end]) + "\n")
        if "part of" in marks:
            self.part_of(marks["part of"], begin, end)
        if kind not in ("console", "sh"):
            return
        if "not run" in marks:
            print("%s:%d: not run: %s" % (os.path.relpath(self.path, ROOT), begin, marks["not run"]))
        elif "needs" in marks and not shutil.which(marks["needs"], path=self.env["PATH"]):
            print("%s:%d: not run: there is no %s" % (os.path.relpath(self.path, ROOT), begin, marks["needs"]))
        elif kind == "console":
            self.console(begin, end)
        else:
            result = self.shell("\n".join(self.lines[begin:end]), strict=True)
            if result.returncode:
                self.fail(begin, result.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--env", action="append", default=[])
    parser.add_argument("--path", action="append", default=[], help="folder in front of PATH")
    parser.add_argument("page")
    parser.add_argument("folder")
    args = parser.parse_args()
    shutil.rmtree(args.folder, ignore_errors=True)
    os.makedirs(args.folder)
    env = dict(os.environ, SRC=ROOT, LC_ALL="C.UTF-8")
    env.update(e.split("=", 1) for e in args.env)
    env["PATH"] = os.pathsep.join(args.path + [env["PATH"]])
    page = Page(args.page, args.folder, env)
    page.run()
    if page.problems:
        sys.exit("\n".join(page.problems))
    if not page.commands:
        sys.exit("%s: no commands" % args.page)
    if args.write:
        with open(args.page, "w", encoding="utf-8") as f:
            f.write("\n".join(page.lines))
    print("%s: %d commands" % (os.path.relpath(args.page, ROOT), page.commands))


if __name__ == "__main__":
    main()
