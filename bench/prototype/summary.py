#!/usr/bin/env python3
"""Prints, for each type and k of a CSV of run1d.sh, the originals and the forms
sorted by time. usage: summary.py FILE.csv [rows]"""
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
top = int(sys.argv[2]) if len(sys.argv) > 2 else 12
for t, k in sorted({(r['type'], int(r['k'])) for r in rows}, key=str):
    mine = [r for r in rows if r['type'] == t and int(r['k']) == k]
    wrong = [r for r in mine if r['check'] == 'WRONG']
    orig = min((float(r['ms']), r['block']) for r in mine if r['form'].startswith('original'))
    copy = [r for r in mine if r['form'] == 'copy'][0]['ms']
    print(f'{t} k={k}: copy {copy} ms, best original {orig[0]} ms at block {orig[1]}, wrong: {len(wrong)}')
    forms = [r for r in mine if r['speedup']]
    for r in sorted(forms, key=lambda r: float(r['ms']))[:top]:
        print(f"  {float(r['speedup']):.2f}x {r['percent_of_copy']:>5}%  {r['form']:14} C={r['C']:>2} tpb={r['threads']:>3} b={r['block']:>4} {r['flags']:32} reg {r['registers']} {r['check']}")
