#!/usr/bin/env python3
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the table of one file of bench/run.sh and checks that all forms of a
case gave the same bits. usage: table.py RESULTS.json

Speed-up: best shape of the original over best shape of the form. `same shape`:
the smallest speed-up at one and the same block shape. `of limit`: the largest of
these shares of the time, each a resource that nothing but less work relieves:

    copy   the least traffic at the rate of the best measured copy
    FP32   the FP32 instructions that no form can do without, at the device's
           highest clock
    L1     wavefronts of loads and stores } that the tool counts in its kernel
    LDS    wavefronts of shared memory    } or the original

A dash in the last column: the order of the sums is another one (cuBLAS), so bits
are not compared. Exit status 1: some results differ, or a rewritten program is
slower than its original.
"""
import json
import sys


def cases(results):
    """name -> form -> list of measurements, in the order of the file."""
    found = {}
    for m in results['measurements']:
        found.setdefault(m['name'], {}).setdefault(m['form'], []).append(m)
    return found


def best(measurements):
    return min(measurements, key=lambda m: m['ms'])


def copy_rate(results):
    """Bytes a millisecond of the best copy."""
    return max((m['bytes'] / m['ms'] for m in results['measurements']
                if m['form'] == 'copy'), default=None)


def device(results):
    """SMs, clock and lanes, which the copy program prints; {} in old files."""
    return next((m for m in results['measurements'] if 'sms' in m), {})


def limit(m, form, rate, gpu, counts):
    """The resource that this measurement uses most of, and its share of the time."""
    shares = {'copy': m['bytes'] / m['ms'] / rate}
    if gpu:
        clocks = m['ms'] * gpu['kHz'] * gpu['sms']  # of all SMs
        if m.get('fp32'):
            shares['FP32'] = m['fp32'] / gpu['fp32Lanes'] / clocks
        used = counts.get(m.get('program'), {}).get(form)
        if used and m.get('outputs'):
            shares['L1'] = used['l1'] * m['outputs'] / 32 / clocks
            shares['LDS'] = used['exchange'] * m['outputs'] / 32 / clocks
    # More than all of it: the count is too high (rounds or bank conflicts that are
    # not known), and says nothing.
    shares = {k: v for k, v in shares.items() if v <= 1.02}
    name = max(shares, key=shares.get, default='copy')
    return name, shares.get(name, 1)  # faster than the copy: a cache holds some


def main():
    with open(sys.argv[1]) as f:
        results = json.load(f)
    rate, gpu, counts = copy_rate(results), device(results), results.get('counts', {})
    print(f"{results['date']}  {results['device']}  copy {rate * 1e-9:.2f} TB/s")
    print(f"{'case':26} {'form':20} {'shape':>8} {'ms':>9} {'speed-up':>8} "
          f"{'same shape':>10} {'of copy':>8} {'of limit':>13} {'TFLOP/s':>8}  bits")
    wrong = slower = 0
    for name, forms in cases(results).items():
        if 'original' not in forms:
            continue
        originals = forms['original']
        # Shapes of the original give the same bits too.
        want = originals[0]['hashes']
        for form, measurements in forms.items():
            b = best(measurements)
            ok = all(m['hashes'] in (want, []) for m in measurements)
            wrong += not ok
            at = {m['shape']: m['ms'] for m in originals}
            same = [at[m['shape']] / m['ms'] for m in measurements
                    if m['shape'] in at]
            speedup = best(originals)['ms'] / b['ms']
            share = 100 * b['bytes'] / b['ms'] / rate
            which, part = limit(b, form, rate, gpu, counts)
            flops = b['operations'] / b['ms'] * 1e-9
            least = f'{min(same):.2f}x' if same and form == 'rewritten' else ''
            # Launches of some microseconds take as long as the host does.
            if form == 'rewritten' and min(same) < 0.98 and b['ms'] > 0.01:
                slower += 1
            print(f"{name:26} {form:20} {b['shape']:>8} {b['ms']:9.4f} "
                  f"{speedup:7.2f}x {least:>10} {share:7.1f}% "
                  f"{100 * part:7.1f}% {which:>4} {flops if flops else 0:8.1f}  "
                  f"{'-' if not b['hashes'] else 'same' if ok else 'DIFFERENT'}")
    print(f'{wrong} forms with other bits, {slower} rewritten programs slower '
          f'than their original at some shape')
    return 1 if wrong or slower else 0


if __name__ == '__main__':
    sys.exit(main())
