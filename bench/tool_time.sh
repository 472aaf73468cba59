#!/usr/bin/env bash
# Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Time and peak memory of the tool against clang++ -fsyntax-only on the same
# files, device side only in both cases (that is what the tool parses). Medians;
# the two take turns, so that a busy machine hurts both alike.
#
# usage: bench/tool_time.sh [-n REPEATS] [-o RESULTS.json] TOOL FILE.cu...
# Exit status: 1 when a ratio is above 1.3 (time) or 1.5 (memory).
set -eu
export RCACHE_SELF_CHECK=off # the time of rewriting alone
repeats=7 out=
while getopts n:o: o; do
  case $o in
  n) repeats=$OPTARG ;;
  o) out=$OPTARG ;;
  *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
[ $# -ge 2 ] || { sed -n '9,10s/^# //p' "$0" >&2; exit 2; }
tool=$1
shift
exec python3 - "$repeats" "$out" "$tool" "${CLANG:-clang++-22}" "${CUDA_PATH:-/usr/local/cuda}" "$@" <<'PYTHON'
import datetime, json, os, statistics, sys, time

repeats, out, tool, clang, cuda, *files = sys.argv[1:]


def cost(command):
    """Seconds of processor time, seconds of wall time, peak KiB."""
    begin = time.monotonic()
    pid = os.fork()
    if pid == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        os.execvp(command[0], command)
    _, status, usage = os.wait4(pid, 0)
    wall = time.monotonic() - begin
    if status:
        sys.exit(f'tool_time: exit status {os.waitstatus_to_exitcode(status)}: {" ".join(command)}')
    return usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss


rows, bad = [], False
print(f'{"file":24} {"clang s":>8} {"tool s":>8} {"time":>6} {"clang MiB":>10} {"tool MiB":>9} {"memory":>7}')
for file in files:
    include = os.path.dirname(os.path.abspath(file))
    syntax = [clang, '-fsyntax-only', '--cuda-device-only', '--cuda-gpu-arch=sm_90',
              '--cuda-path=' + cuda, '-std=c++17', '-Wno-unknown-cuda-version', '-I', include, file]
    if os.path.isdir(cuda + '/include/cccl'):
        syntax[1:1] = ['-isystem', cuda + '/include/cccl']
    ours = [tool, file, '-o', os.devnull, '--', '-std=c++17', '-I', include]
    a, b = [], []
    for _ in range(int(repeats)):
        a.append(cost(syntax))
        b.append(cost(ours))
    m = lambda v, i: statistics.median(x[i] for x in v)
    row = {'file': os.path.basename(file), 'clang_seconds': m(a, 0), 'tool_seconds': m(b, 0),
           'clang_wall': m(a, 1), 'tool_wall': m(b, 1), 'clang_kib': m(a, 2), 'tool_kib': m(b, 2)}
    row['time_ratio'] = row['tool_seconds'] / row['clang_seconds']
    row['memory_ratio'] = row['tool_kib'] / row['clang_kib']
    bad |= row['time_ratio'] > 1.3 or row['memory_ratio'] > 1.5
    rows.append(row)
    print(f'{row["file"]:24} {row["clang_seconds"]:8.3f} {row["tool_seconds"]:8.3f} {row["time_ratio"]:5.2f}x '
          f'{row["clang_kib"] / 1024:10.1f} {row["tool_kib"] / 1024:9.1f} {row["memory_ratio"]:6.2f}x')
if out:
    with open(out, 'w') as f:
        json.dump({'date': datetime.date.today().isoformat(), 'repeats': int(repeats), 'files': rows}, f, indent=1)
        f.write('\n')
sys.exit(bad)
PYTHON
