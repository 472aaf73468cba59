#!/usr/bin/env python3
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every relative link of the documentation leads to a file, in the source tree or
in an installed one.

    check_docs.py [FOLDER]     default: the project's folder

A link into a folder above FOLDER is a mistake too: an installed tree has to stand
by itself. Links with a fragment lead to a heading of that name.
"""

import os
import re
import sys

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")


def pages(root):
    """Markdown files below root, but not those of other people or of builds."""
    for base, folders, names in os.walk(root):
        folders[:] = [f for f in folders
                      if not f.startswith((".", "build")) and f != "node_modules"]
        if os.path.basename(base) == "Inputs":
            folders[:] = []
            continue
        for name in names:
            if name.endswith(".md"):
                yield os.path.join(base, name)


def prose(text):
    """Without code: what looks like a link there is none."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    text = re.sub(r"^(?: {4}|\t).*$", "", text, flags=re.M)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(text):
    """The fragments of a page's headings, as forges make them."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", text, re.M):
        heading = re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower())
        found.add(heading.strip().replace(" ", "-"))
    return found | set(re.findall(r'<a (?:id|name)="([^"]+)"', text))


def problems(root):
    root = os.path.realpath(root)
    for page in sorted(pages(root)):
        with open(page, encoding="utf-8") as f:
            text = f.read()
        shown = os.path.relpath(page, root)
        for one, two in LINK.findall(prose(text)):
            link = one or two
            if re.match(r"[a-z]+:", link):
                continue
            path, _, fragment = link.partition("#")
            target = os.path.realpath(os.path.join(os.path.dirname(page), path)) if path else page
            if target != root and not target.startswith(root + os.sep):
                yield "%s: '%s' leads out of the tree" % (shown, link)
            elif not os.path.exists(target):
                yield "%s: '%s' leads nowhere" % (shown, link)
            elif fragment and target.endswith(".md"):
                with open(target, encoding="utf-8") as f:
                    if fragment not in anchors(f.read()):
                        yield "%s: '%s' has no such heading" % (shown, link)


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    count = sum(1 for _ in pages(root))
    found = list(problems(root))
    for line in found:
        print(line)
    if not found:
        print("docs: the links of %d pages lead somewhere" % count)
    return 1 if found or not count else 0


if __name__ == "__main__":
    sys.exit(main())
