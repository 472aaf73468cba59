#!/usr/bin/env python3
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The figures of README.md, from a results file of bench/run.sh: the table of the
k-stencil, and a line for each of the other programs named there.

usage: readme.py RESULTS.json            prints them
       readme.py RESULTS.json README.md  exit status 1 when README.md says otherwise
"""
import json
import re
import sys

import table

TILES = {'radius 1': 'conv2d-r1', 'radius 2': 'conv2d-r2', 'radius 4': 'conv2d-r4', '5-point step': 'heat5',
         'row of a separable filter': 'separable-row-r8', 'Sobel on bytes': 'sobel',
         'matrix product with 32 x 32 tiles': 'matmul-4096'}


def figures(results, case):
    """(speed-up, share of the copy) of the tool's output."""
    forms = table.cases(results)[case]
    old, new = table.best(forms['original']), table.best(forms['rewritten'])
    return old['ms'] / new['ms'], new['bytes'] / new['ms'] / table.copy_rate(results)


def rows(results):
    """Rows of the table, as README.md has them."""
    for element in ('float', 'int'):
        cells = []
        for k in (1, 4, 8, 12, 16, 25):
            speedup, share = figures(results, f'stencil-{element}-k{k}')
            cells.append(f'{speedup:.2f}x ({100 * share:.0f}%{" of copy" if (element, k) == ("float", 1) else ""})')
        yield f'| {element} | ' + ' | '.join(cells) + ' |'


def main():
    with open(sys.argv[1], encoding='utf-8') as f:
        results = json.load(f)
    wanted = list(rows(results))
    for name, case in TILES.items():
        speedup, share = figures(results, case)
        wanted.append(f'{name} {speedup:.1f}x')
        if len(sys.argv) < 3:
            wanted[-1] += f' ({100 * share:.0f}% of copy)'
    if len(sys.argv) < 3:
        print('\n'.join(wanted))
        return 0
    with open(sys.argv[2], encoding='utf-8') as f:
        text = re.sub(r'\s+', ' ', f.read())
    missing = [w for w in wanted if re.sub(r'\s+', ' ', w) not in text]
    for w in missing:
        print(f'{sys.argv[2]} does not say: {w}')
    return 1 if missing else 0


if __name__ == '__main__':
    sys.exit(main())
