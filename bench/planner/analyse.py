#!/usr/bin/env python3
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Judges the planner's choice against a stored measurement of all candidates; no
GPU is needed.

usage: analyse.py [--tool build/bin/rcache-rewrite [--tune none|ptxas] [-f PATTERN]] [-v] RESULTS.json

Without --tool the choice is the one made when the candidates were written; with
it the tool chooses again (over the same candidates: a plan that was not measured
cannot be judged and is named); --tune is passed on to it.

    best      speed-up of the fastest candidate over the original
    default   speed-up of the tool's choice; 1 where it leaves the kernel alone
    ratio     default over best (over 1.00x when no candidate is faster)

Exit status 1 when the geometric mean of the ratios is below 95%, one is below
85%, a chosen rewriting is slower than its original, a kernel was declined that a
candidate speeds up by more than 1.15x, or some result has other bits.
"""
import argparse
import json
import math
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def kernel_of(report):
    kernels = report['files'][0]['kernels']
    kernels = [k for k in kernels if k['verdict'] != 'not-shared'] or kernels
    return next((k for k in kernels if 'choice' in k), kernels[0])


def identity(candidate):
    """What names a candidate whatever its number."""
    return (tuple(candidate['coarsening']), candidate['arrays'], candidate['form'],
            tuple(candidate['block']))


def fresh_report(tool, name, tune):
    """The report that the tool makes now."""
    import tempfile
    sys.path.insert(0, HERE)
    import emit
    for program, source, flags in emit.suite('^' + name + '$'):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'report.json')
            if emit.rewrite(tool, source, flags, '-q', '-o', os.devnull, '--tune=' + tune,
                            '--report=' + path) is None:
                sys.exit(f'analyse: the tool fails on {name}')
            with open(path, encoding='utf-8') as f:
                return json.load(f)
    sys.exit(f'analyse: {name} is not in the suite')


def judge(name, program, tool, tune):
    """A row of the table, or None when nothing was measured."""
    forms = program['forms']
    if 'ms' not in forms.get('original', {}):
        return None
    original = forms['original']['ms']
    kernel = kernel_of(program['report'])
    measured = {}  # identity -> (speed-up, number)
    wrong = []
    if 'choice' in kernel:
        for number, candidate in enumerate(kernel['choice']['candidates']):
            form = forms.get(f'c{number}', {})
            if 'failed' in form or form.get('same_bits') is False:
                wrong.append(number)
            elif 'ms' in form:
                measured[identity(candidate)] = (original / form['ms'], number, candidate, form)
    now = kernel_of(fresh_report(tool, name, tune)) if tool else kernel
    row = {'name': name, 'original': original, 'wrong': wrong, 'measured': measured,
           'reason': now['declines'][0]['code'] if now['declines'] else '', 'now': now,
           'unmeasured': False, 'count': len(measured)}
    best = max(measured.values(), key=lambda m: m[0], default=(1, None))
    row['best'], row['best_number'] = best[:2]
    chosen = None
    if now['verdict'] == 'rewritten' and 'chosen' in now['choice']:
        chosen = identity(now['choice']['candidates'][now['choice']['chosen']])
    row['rewritten'] = chosen is not None
    if chosen is None:
        row['default'], row['number'] = 1.0, None
    elif chosen in measured:
        row['default'], row['number'] = measured[chosen][:2]
    else:
        row['unmeasured'] = True
        row['default'], row['number'] = float('nan'), None
    row['ratio'] = row['default'] / max(row['best'], 1.0)
    return row


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--tool')
    parser.add_argument('--tune', default='none')
    parser.add_argument('-f', default='.', help='only programs whose name matches')
    parser.add_argument('-v', action='store_true', help='all candidates of each program')
    parser.add_argument('results')
    args = parser.parse_args()
    with open(args.results, encoding='utf-8') as f:
        results = json.load(f)
    print(f"{results['date']}  {results['device']}  {results['compiler']}")
    print(f"{'program':26} {'original ms':>11} {'candidates':>10} {'best':>12} {'default':>12} {'ratio':>7}")
    rows = []
    for name, program in sorted(results['programs'].items()):
        if not re.search(args.f, name):
            continue
        row = judge(name, program, args.tool, args.tune)
        if not row:
            print(f'{name:26} was not measured')
            continue
        rows.append(row)
        mark = lambda number: f' #{number}' if number is not None else ''
        text = 'unmeasured' if row['unmeasured'] else f"{row['default']:.2f}x{mark(row['number'])}"
        print(f"{name:26} {row['original']:11.4f} {row['count']:10} "
              f"{row['best']:7.2f}x{mark(row['best_number']):>4} {text:>12} {100 * row['ratio']:6.1f}%"
              + ('' if row['rewritten'] else f"  left as it is: {row['reason']}")
              + (f"  WRONG OR FAILED: {row['wrong']}" if row['wrong'] else ''))
        if args.v:
            predictions = {identity(c): c for c in row['now'].get('choice', {}).get('candidates', [])}
            for key, (speedup, number, candidate, form) in sorted(row['measured'].items(),
                                                                   key=lambda m: -m[1][0]):
                c = predictions.get(key, candidate)
                print(f"    #{number:<3} {speedup:5.2f}x  predicted {c['predictedSpeedup']:5.2f}x "
                      f"rank {c.get('rank', 0):6.3f}  regs {form['registers']:3}"
                      f"{'+' + str(form['spills']) + 'B' if form['spills'] else ''} "
                      f"(~{c['counts']['registers']})  {'x'.join(map(str, c['coarsening']))} "
                      f"{c['arrays']}; {c['form']} [{c['limit']}]")
    judged = [r for r in rows if not r['unmeasured'] and r['count']]
    if not judged:
        print('nothing to judge')
        return 1
    mean = math.exp(sum(math.log(r['ratio']) for r in judged) / len(judged))
    least = min(judged, key=lambda r: r['ratio'])
    misses = [r for r in judged if not r['rewritten'] and r['best'] > 1.15]
    slow = [r for r in judged if r['rewritten'] and r['default'] < 1.0]
    wrong = [r for r in rows if r['wrong']]
    unmeasured = [r['name'] for r in rows if r['unmeasured']]
    print(f'default against best: geometric mean {100 * mean:.1f}% (95% required), least '
          f"{100 * least['ratio']:.1f}% {least['name']} (85% required), {len(judged)} programs")
    print('misses (declined, a candidate gains more than 1.15x):',
          ', '.join(f"{r['name']} {r['best']:.2f}x" for r in misses) or 'none')
    print('slower than the original:',
          ', '.join(f"{r['name']} {r['default']:.2f}x" for r in slow) or 'none')
    if wrong:
        print('wrong or failed:', ', '.join(r['name'] for r in wrong))
    if unmeasured:
        print('chosen now, but not measured:', ', '.join(unmeasured))
    good = mean >= 0.95 and least['ratio'] >= 0.85 and not misses and not slow and not wrong
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main())
