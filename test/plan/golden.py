#!/usr/bin/env python3
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares a plan with the one that is kept in test/plan/golden, as text.

usage: golden.py TOOL FLAGS SOURCE NAME -- OPTION...

The golden file is golden/SOURCE.NAME.plan (SOURCE without folder and suffix). With
RCACHE_UPDATE_GOLDEN=1 it is written instead; read the difference before it is
committed: a plan that changes is a kernel that changes.
"""
import difflib
import os
import shlex
import subprocess
import sys


def main():
    tool, flags, source, name, dashes, *options = sys.argv[1:]
    assert dashes == '--'
    stem = os.path.splitext(os.path.basename(source))[0]
    golden = os.path.join(os.path.dirname(os.path.abspath(source)), 'golden',
                          '%s.%s.plan' % (stem, name))
    command = [tool, source, '-q', '--force', '--print-after=plan', '-o', os.devnull,
               *options, '--', *shlex.split(flags)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        print(done.stderr, end='')
        return 1
    text = done.stdout
    if os.environ.get('RCACHE_UPDATE_GOLDEN'):
        os.makedirs(os.path.dirname(golden), exist_ok=True)
        with open(golden, 'w', encoding='utf-8') as f:
            f.write(text)
        return 0
    with open(golden, encoding='utf-8') as f:
        kept = f.read()
    if not kept:
        print('%s is empty' % golden)
        return 1
    lines = list(difflib.unified_diff(kept.splitlines(), text.splitlines(), golden, 'now',
                                      lineterm=''))
    print('\n'.join(lines))
    return 1 if lines else 0


if __name__ == '__main__':
    sys.exit(main())
