#!/usr/bin/env python3
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Is the tool's choice the best of what it could have written? On programs that no model was
fitted to: candidates of kernels of bench/styles, timed beside the original.

    bench/styles/candidates.py emit RCACHE-REWRITE FOLDER FILE:KERNEL... [-- OPTION...]
                                              writes the choice and the best candidates that have
                                              other outputs a thread, at most MOST a kernel
    bench/styles/candidates.py time FOLDER    builds and times them (GPU, nvcc, ncu): a line a
                                              candidate
    bench/styles/candidates.py judge TABLE    a line a kernel: choice against the best

Times are ncu's, microseconds, all launches of a kernel added up; caches are flushed before each.
"""
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import run

MOST = 7


def stem(name):
    return re.sub(r'.*::|<.*|\(.*', '', name)


def kept(choice):
    """Numbers of the candidates to time: the choice, then the best of each number of outputs."""
    best = {}
    for number, c in enumerate(choice['candidates']):
        if 'excluded' in c or 'rank' not in c or number == choice['chosen']:
            continue
        key = math.prod(c['coarsening'])
        if key not in best or c['rank'] > choice['candidates'][best[key]]['rank']:
            best[key] = number
    others = sorted(best.values(), key=lambda n: -choice['candidates'][n]['rank'])
    return [choice['chosen'], *others][:MOST]


def emit(tool, folder, *words):
    words, options = list(words), []
    if '--' in words:
        options = words[words.index('--') + 1:]
        words = words[:words.index('--')]
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(run.HERE):
        if name.endswith('.h'):
            shutil.copy(os.path.join(run.HERE, name), folder)
    wanted = {}
    for word in words:
        file, kernel = word.split(':', 1)
        wanted.setdefault(file, []).append(kernel)
    for file, names in sorted(wanted.items()):
        source = os.path.join(run.HERE, file + '.cu')
        with tempfile.TemporaryDirectory() as written:
            report = os.path.join(written, 'report.json')
            if subprocess.run([tool, source, '-q', '--self-check=off', '-o', os.devnull, '--report=' + report,
                                   '--emit-candidates=' + written, *options], check=False).returncode:
                print(file, 'the tool failed')
                continue
            shutil.copy(source, folder)
            take(json.load(open(report, encoding='utf-8')), names, written, folder, file)


def take(report, names, written, folder, file):
    for kernel in (k for f in report['files'] for k in f['kernels']):
        name = stem(kernel['name'])
        if name not in names or kernel.get('choice', {}).get('chosen', -1) < 0:
            continue
        names.remove(name)
        choice = kernel['choice']
        facts = []
        for number in kept(choice):
            path = os.path.join(written, f'{name}.c{number}.cu')
            if os.path.exists(path):
                target = f'{file}.{name}.c{number}'
                shutil.copy(path, os.path.join(folder, target + '.cu'))
                facts.append({'file': target, 'chosen': number == choice['chosen'],
                              **choice['candidates'][number]})
        with open(os.path.join(folder, f'{file}.{name}.json'), 'w', encoding='utf-8') as f:
            json.dump({'file': file, 'kernel': name, 'original': choice['original'], 'candidates': facts}, f)
        print(file, name, len(facts), flush=True)
    if names:
        print(file, 'no candidates:', *names)


def timed(path, kernel):
    """[microseconds, launches, launches of a rewritten form] of one kernel."""
    return run.times(path, '--kernel-name', f'regex:^{kernel}(_rc|$)').get(kernel)


def time(folder):
    kernels = []
    for name in sorted(os.listdir(folder)):
        if name.endswith('.json'):
            with open(os.path.join(folder, name), encoding='utf-8') as f:
                kernels.append(json.load(f))
    files = sorted({k['file'] for k in kernels} | {c['file'] for k in kernels for c in k['candidates']})
    with ThreadPoolExecutor() as pool:
        good = dict(zip(files, pool.map(run.build, [os.path.join(folder, f) for f in files])))
    for k in kernels:
        old = timed(os.path.join(folder, k['file']), k['kernel'])
        for c in k['candidates']:
            new = good[c['file']] and timed(os.path.join(folder, c['file']), k['kernel'])
            if not new:
                print(f"# {c['file']}: not timed")
                continue
            print(f"{k['file']:5} {k['kernel']:26} {'x'.join(map(str, c['coarsening'])):8} {c['warpsPerSm']:3} warps "
                  f"{old[0]:9.1f} {new[0]:9.1f} {old[0] / new[0]:6.2f} predicted {c['predictedSpeedup']:6.2f} "
                  f"{new[2]} of {new[1]} {'chosen' if c['chosen'] else '-':6} {c['arrays']} {c['form']}", flush=True)


def judge(table):
    rows = {}
    with open(table, encoding='utf-8') as f:
        for line in f:
            m = re.match(r'(\w+) +(\w+) +(\S+) +\d+ warps +([\d.]+) +([\d.]+) +[\d.]+ predicted +([\d.]+) '
                         r'(\d+) of \d+ (chosen|-)', line)
            if m and int(m[7]):
                rows.setdefault((m[1], m[2]), []).append((float(m[4]) / float(m[5]), m[3], m[8] == 'chosen', float(m[6])))
    total = []
    for (file, kernel), all_ in sorted(rows.items()):
        chosen = next((r for r in all_ if r[2]), None)
        if not chosen:
            continue
        best = max(all_)
        total.append(max(chosen[0], 1) / max(best[0], 1))
        print(f'{file:5} {kernel:26} {chosen[1]:8} {chosen[0]:6.2f} (predicted {chosen[3]:5.2f})  best {best[1]:8} '
              f'{best[0]:6.2f}  ratio {total[-1]:5.2f}')
    print(f'{len(total)} kernels, geometric mean of the ratios {math.exp(sum(map(math.log, total)) / len(total)):.3f}')


if __name__ == '__main__':
    if len(sys.argv) >= 5 and sys.argv[1] == 'emit':
        emit(*sys.argv[2:])
    elif len(sys.argv) == 3 and sys.argv[1] == 'time':
        time(sys.argv[2])
    elif len(sys.argv) == 3 and sys.argv[1] == 'judge':
        judge(sys.argv[2])
    else:
        sys.exit(__doc__)
