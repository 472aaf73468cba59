#!/usr/bin/env python3
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds and times everything that emit.py wrote, on this machine's GPU.

usage: measure.py [-t SECONDS] [-o RESULTS.json] [FOLDER]

Needs nvcc, a C++ compiler and a GPU. Programs are built in parallel and run as
soon as they are built, one at a time. After -t seconds (default 540) what is not
done is left out and named. ARCH=sm_90 fixes the architecture.
"""
import argparse
import concurrent.futures
import datetime
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def nvcc():
    return os.environ.get('NVCC') or shutil.which('nvcc') or '/usr/local/cuda/bin/nvcc'


def architecture():
    if os.environ.get('ARCH'):
        return os.environ['ARCH']
    done = subprocess.run(['nvidia-smi', '--query-gpu=compute_cap', '--format=csv,noheader'],
                          capture_output=True, text=True, check=True)
    return 'sm_' + done.stdout.split()[0].replace('.', '')


def registers(log):
    """The largest `Used N registers` of kernels that are not the harness's, and
    the spilled bytes of that kernel."""
    best, name, spill = (0, 0), '', 0
    for line in log.splitlines():
        entry = re.search(r"Compiling entry function '(\w+)'", line)
        if entry:
            name, spill = entry.group(1), 0
        stores = re.search(r'(\d+) bytes spill stores', line)
        if stores:
            spill = int(stores.group(1))
        used = re.search(r'Used (\d+) registers', line)
        if used and '_rc' in name:
            best = max(best, (int(used.group(1)), spill))
        elif used and 'bench' not in name and best == (0, 0):
            best = (int(used.group(1)), spill)
    return best


class Measurement:
    def __init__(self, folder, seconds):
        self.folder, self.end = folder, time.monotonic() + seconds
        self.tmp = tempfile.mkdtemp(prefix='planner')
        self.arch = architecture()
        self.results = {}
        self.left_out = []
        self.lock = threading.Lock()

    def over(self):
        return time.monotonic() > self.end

    def build(self, name, label):
        """One shared library: (label, path or None, registers, spills)."""
        if self.over():
            return label, None, 0, 0
        source = os.path.join(self.folder, name, label + '.cu')
        library = os.path.join(self.tmp, f'{name}.{label}.so')
        with open(os.path.join(self.folder, name, 'flags'), encoding='utf-8') as f:
            flags = f.read().split()
        done = subprocess.run(
            [nvcc(), '-std=c++17', '-O3', '-arch=' + self.arch, '-Xptxas', '-v', '-shared',
             '-Xcompiler', '-fPIC', '-Dmain=bench_main', *flags, source, '-o', library],
            capture_output=True, text=True)
        if done.returncode:
            print(f'{name} {label} does not compile:\n{done.stderr[:600]}', flush=True)
            return label, None, 0, 0
        return label, library, *registers(done.stderr)

    def run(self, name, libraries):
        """Runs them in one process; what crashes is left out, the rest is run
        again without it."""
        waiting = dict(libraries)
        lines, failed = {}, {}
        while waiting and not self.over():
            environment = dict(os.environ, BENCH_QUICK='1')
            try:
                done = subprocess.run([os.path.join(self.tmp, 'runner')] +
                                      [f'{k}={v}' for k, v in waiting.items()], env=environment,
                                      capture_output=True, text=True, timeout=180)
                out, err, status = done.stdout, done.stderr, done.returncode
            except subprocess.TimeoutExpired as e:
                out, err, status = (e.stdout or b'').decode(), 'timeout', 1
            label = None
            for line in out.splitlines():
                if line.startswith('# '):
                    label = line[2:]
                elif line.startswith('{'):
                    lines.setdefault(label, []).append(json.loads(line))
            finished = [k for k in waiting if k in lines and (k != label or status == 0)]
            for k in finished:
                del waiting[k]
            if status:
                if label not in waiting:
                    break
                failed[label] = err.strip()[-300:]
                lines.pop(label, None)
                del waiting[label]
        return lines, failed

    def program(self, name, built):
        meta = {label: (regs, spills) for label, library, regs, spills in built if library}
        lines, failed = self.run(name, {label: library for label, library, _, _ in built if library})
        result = {'forms': {}}
        want = lines['original'][0]['hashes'] if 'original' in lines else None
        for label, measurements in lines.items():
            m = min(measurements, key=lambda m: m['ms'])
            result['forms'][label] = {
                'ms': m['ms'], 'shape': m['shape'], 'bytes': m['bytes'], 'operations': m['operations'],
                'registers': meta[label][0], 'spills': meta[label][1],
                'same_bits': all(x['hashes'] == want for x in measurements)}
        for label, why in failed.items():
            result['forms'][label] = {'failed': why}
        with open(os.path.join(self.folder, name, 'report.json'), encoding='utf-8') as f:
            result['report'] = json.load(f)
        with self.lock:
            self.results[name] = result
        for _, library, _, _ in built:
            if library:
                os.remove(library)

    def all(self):
        subprocess.run(['c++', '-O1', '-o', os.path.join(self.tmp, 'runner'),
                        os.path.join(self.folder, 'runner.cpp'), '-ldl'], check=True)
        names = sorted(d for d in os.listdir(self.folder)
                       if os.path.exists(os.path.join(self.folder, d, 'original.cu')))
        with concurrent.futures.ThreadPoolExecutor(max(1, os.cpu_count() - 1)) as builders, \
                concurrent.futures.ThreadPoolExecutor(1) as device:
            pending = []
            for name in names:
                labels = sorted(f[:-3] for f in os.listdir(os.path.join(self.folder, name))
                                if f.endswith('.cu'))
                labels.sort(key=lambda f: (f != 'original', int(f[1:]) if f[1:].isdigit() else 0))
                pending.append((name, [builders.submit(self.build, name, f) for f in labels]))
            runs = []
            for name, jobs in pending:
                built = [j.result() for j in jobs]
                if self.over():
                    self.left_out.append(name)
                    continue
                runs.append((name, device.submit(self.program, name, built)))
            for name, job in runs:
                job.result()
        shutil.rmtree(self.tmp, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('-t', type=float, default=540)
    parser.add_argument('-o', default='planner.json')
    parser.add_argument('folder', nargs='?', default=HERE)
    args = parser.parse_args()
    begin = time.monotonic()
    m = Measurement(args.folder, args.t)
    m.all()
    device = subprocess.run(['nvidia-smi', '--query-gpu=name,driver_version', '--format=csv,noheader'],
                            capture_output=True, text=True).stdout.strip()
    compiler = subprocess.run([nvcc(), '--version'], capture_output=True, text=True).stdout.splitlines()
    with open(args.o, 'w', encoding='utf-8') as f:
        json.dump({'date': datetime.date.today().isoformat(), 'device': device, 'arch': m.arch,
                   'compiler': compiler[-1] if compiler else '', 'programs': m.results}, f)
    print(f'{len(m.results)} programs, {sum(len(r["forms"]) for r in m.results.values())} forms, '
          f'{time.monotonic() - begin:.0f} s')
    if m.left_out:
        print('left out, time was over:', ', '.join(m.left_out))
    analysis = os.path.join(HERE, 'analyse.py')
    return subprocess.run([sys.executable, analysis, args.o]).returncode


if __name__ == '__main__':
    sys.exit(main())
