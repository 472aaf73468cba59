#!/usr/bin/env python3
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What of a report bench/table.py makes limits from: clocks of an SM for 32
outputs in L1 and in shared memory (with shuffles), of the original and of the
chosen plan. usage: counts.py REPORT.json COUNTS.json
"""
import json
import sys


def clocks(figures):
    return {'l1': figures['resourceClocks']['l1'], 'exchange': figures['resourceClocks']['exchange']}


with open(sys.argv[1], encoding='utf-8') as f:
    kernels = json.load(f)['files'][0]['kernels']
counts = {}
for kernel in kernels:
    choice = kernel.get('choice')
    if choice and kernel['verdict'] == 'rewritten':
        counts = {'original': clocks(choice['original']),
                  'rewritten': clocks(choice['candidates'][choice['chosen']])}
with open(sys.argv[2], 'w', encoding='utf-8') as f:
    json.dump(counts, f)
