#!/usr/bin/env python3
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes every candidate of every program of the suite, ready to be measured on a
machine with a GPU and nvcc but without LLVM.

usage: emit.py [-j N] [-f PATTERN] [-l SHARE] TOOL FOLDER

Candidates whose rank is below SHARE of the best one's (default 0.5), and those that
the tool excludes, are left out: -l 0 writes all.

FOLDER/harness.cuh, FOLDER/NAME/original.cu, FOLDER/NAME/c0.cu, c1.cu, ...,
FOLDER/NAME/report.json (the tool's default choice) and the scripts that measure.
"""
import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
BENCH = os.path.dirname(HERE)


def suite(pattern='.'):
    """(name, source, flags) of each program."""
    with open(os.path.join(HERE, 'suite.txt'), encoding='utf-8') as f:
        for line in f:
            words = line.split()
            if words and words[0][0] != '#' and re.search(pattern, words[0]):
                yield words[0], os.path.join(BENCH, 'originals', words[1]), words[2:]


def rewrite(tool, source, flags, *options):
    """Runs the tool; its messages, or None when it failed."""
    done = subprocess.run([tool, source, '--self-check=off', *options, '--', '-I', os.path.dirname(source), *flags],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return done.stderr if done.returncode == 0 else None


def kernel_of(report):
    """The kernel with candidates, else the first."""
    with open(report, encoding='utf-8') as f:
        kernels = json.load(f)['files'][0]['kernels']
    kernels = [k for k in kernels if k['verdict'] != 'not-shared'] or kernels
    return next((k for k in kernels if 'choice' in k), kernels[0])


def emit(tool, folder, least, name, source, flags):
    """One program; a line about it."""
    out = os.path.join(folder, name)
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    shutil.copy(source, os.path.join(out, 'original.cu'))
    with open(os.path.join(out, 'flags'), 'w', encoding='utf-8') as f:
        f.write(' '.join(flags))
    report = os.path.join(out, 'report.json')
    written = os.path.join(out, 'written')
    if rewrite(tool, source, flags, '-q', '-o', os.devnull, '--report=' + report,
               '--emit-candidates=' + written) is None:
        return f'{name:26} the tool failed', False
    # Files are told from the project's folder on, wherever that is.
    with open(report, encoding='utf-8') as f:
        text = f.read().replace(os.path.dirname(BENCH) + '/', '')
    with open(report, 'w', encoding='utf-8') as f:
        f.write(text)
    kernel = kernel_of(report)
    if 'choice' not in kernel:
        why = kernel['declines'][0]['code'] if kernel['declines'] else '?'
        return f'{name:26} no candidate: {why}', True
    stem = re.sub(r'.*::|<.*', '', kernel['name'])
    candidates = kernel['choice']['candidates']
    best = max((c.get('rank', 0) for c in candidates if 'excluded' not in c), default=0)
    kept = [n for n, c in enumerate(candidates) if not least or
            ('excluded' not in c and c.get('rank', 0) >= least * best)]
    numbers = [n for n in kept if os.path.exists(os.path.join(written, f'{stem}.c{n}.cu'))]
    for n in numbers:
        os.rename(os.path.join(written, f'{stem}.c{n}.cu'), os.path.join(out, f'c{n}.cu'))
    shutil.rmtree(written, ignore_errors=True)
    return f"{name:26} {len(numbers)} of {len(candidates)} candidates, {kernel['verdict']}", True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('-j', type=int, default=os.cpu_count())
    parser.add_argument('-f', default='.')
    parser.add_argument('-l', type=float, default=0.5)
    parser.add_argument('tool')
    parser.add_argument('folder')
    args = parser.parse_args()
    os.makedirs(args.folder, exist_ok=True)
    for file in ('measure.py', 'analyse.py', 'runner.cpp'):
        shutil.copy(os.path.join(HERE, file), args.folder)
    shutil.copy(os.path.join(BENCH, 'harness.cuh'), args.folder)
    tool = os.path.abspath(args.tool)
    good = True
    with concurrent.futures.ThreadPoolExecutor(args.j) as pool:
        for line, ok in pool.map(lambda p: emit(tool, args.folder, args.l, *p), suite(args.f)):
            print(line, flush=True)
            good &= ok
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main())
