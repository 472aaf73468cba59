#!/usr/bin/env python3
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws figures 5 and 6 of the register-cache literature for the device of a
results file, as SVG. usage: plot.py RESULTS.json FOLDER [PREFIX]

Figure 5: speed-up over the shared-memory k-stencil against k, one output a
thread. Figure 6: the same with 1 to 8 outputs a thread. Both add what the tool
makes of the original, and what a plain copy of the data would reach.
"""
import json
import os
import re
import sys

WIDTH, HEIGHT = 720, 420
LEFT, RIGHT, TOP, BOTTOM = 64, 172, 64, 56
INK, MUTED, GRID = '#1f2328', '#59636e', '#d9dee3'
COLOURS = {'rewritten by rcache': '#0b5fb0', 'round robin C=8': '#a4480b',
           'round robin C=4': '#cc7a1a', 'round robin C=2': '#8a6d00',
           'round robin C=1': '#6f6f76', 'direct C=8': '#137a4b',
           'shared strided C=8': '#8a3ea8', 'copy of the data': '#1f2328'}


def series(results, element):
    """form -> {k: speed-up over the best original}; the copy as a form too."""
    rate = max(m['bytes'] / m['ms'] for m in results['measurements']
               if m['form'] == 'copy')
    best = {}
    size = {}
    for m in results['measurements']:
        found = re.fullmatch(rf'stencil-{element}-k(\d+)', m['name'])
        if found:
            key = (m['form'], int(found[1]))
            best[key] = min(best.get(key, m['ms']), m['ms'])
            size[int(found[1])] = m['bytes']
    lines = {}
    for (form, k), ms in best.items():
        if form == 'original':
            lines.setdefault('copy of the data', {})[k] = ms / (size[k] / rate)
        elif ('original', k) in best:
            name = 'rewritten by rcache' if form == 'rewritten' else form
            lines.setdefault(name, {})[k] = best[('original', k)] / ms
    return lines


def spread(labels, gap=15):
    """Moves label heights apart, keeping their order."""
    labels.sort()
    for i in range(1, len(labels)):
        if labels[i][0] - labels[i - 1][0] < gap:
            labels[i] = (labels[i - 1][0] + gap,) + labels[i][1:]
    return labels


def draw(lines, names, title, subtitle):
    lines = {n: lines[n] for n in names if n in lines}
    ks = sorted({k for l in lines.values() for k in l})
    top = max(v for l in lines.values() for v in l.values())
    top = (int(top * 2) + 1) / 2
    x = lambda k: LEFT + (WIDTH - LEFT - RIGHT) * (k - ks[0]) / (ks[-1] - ks[0])
    y = lambda v: HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * v / top
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
           f'font-family="system-ui, sans-serif" font-size="12" fill="{INK}" role="img">',
           f'<title>{title}</title>',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
           f'<text x="16" y="26" font-size="15" font-weight="600">{title}</text>',
           f'<text x="16" y="45" fill="{MUTED}">{subtitle}</text>']
    v = 0.0
    while v <= top:
        weight = 1.5 if v == 1 else 1
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(v):.1f}" y2="{y(v):.1f}" '
                   f'stroke="{MUTED if v == 1 else GRID}" stroke-width="{weight}"/>')
        out.append(f'<text x="{LEFT - 8}" y="{y(v) + 4:.1f}" text-anchor="end" fill="{MUTED}">{v:g}x</text>')
        v += 0.5 if top <= 3.5 else 1
    for k in ks:
        out.append(f'<text x="{x(k):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle" fill="{MUTED}">{k}</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 14}" text-anchor="middle" '
               f'fill="{MUTED}">k (each output is the mean of 2k + 1 elements)</text>')
    labels = []
    for name, values in lines.items():
        colour = COLOURS[name]
        points = ' '.join(f'{x(k):.1f},{y(values[k]):.1f}' for k in sorted(values))
        dash = ' stroke-dasharray="5 4"' if name == 'copy of the data' else ''
        width = 2.5 if name == 'rewritten by rcache' else 1.8
        out.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{width}"{dash}/>')
        for k, value in values.items():
            if not dash:
                out.append(f'<circle cx="{x(k):.1f}" cy="{y(value):.1f}" r="3" fill="{colour}">'
                           f'<title>{name}, k = {k}: {value:.2f}x</title></circle>')
        last = max(values)
        labels.append((y(values[last]), name, f'{values[last]:.2f}x'))
    for height, name, value in spread(labels):
        out.append(f'<text x="{WIDTH - RIGHT + 10}" y="{height + 4:.1f}" fill="{COLOURS[name]}">{name} {value}</text>')
    out.append('</svg>')
    return '\n'.join(out) + '\n'


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    with open(sys.argv[1]) as f:
        results = json.load(f)
    prefix = sys.argv[3] if len(sys.argv) > 3 else ''
    what = f"{results['device'].split(',')[0]}, {results['date']}, 2^27 elements, over the best block size of the original"
    for element in ('float', 'int'):
        lines = series(results, element)
        if len({k for l in lines.values() for k in l}) < 2:
            continue
        figures = {
            'figure5': (['copy of the data', 'rewritten by rcache', 'round robin C=1'],
                        f'Register cache against shared memory, one output a thread ({element})'),
            'figure6': (['copy of the data', 'rewritten by rcache', 'direct C=8',
                         'shared strided C=8'] + [f'round robin C={c}' for c in (8, 4, 2, 1)],
                        f'Register cache against shared memory, 1 to 8 outputs a thread ({element})')}
        for name, (names, title) in figures.items():
            path = os.path.join(sys.argv[2], f'{prefix}{name}-{element}.svg')
            with open(path, 'w') as f:
                f.write(draw(lines, names, title, what))
            print(path)


if __name__ == '__main__':
    main()
