"""The report's candidates are the table's: choice_agrees.py REPORT.json TABLE"""
import json
import sys

with open(sys.argv[1]) as f:
    kernels = json.load(f)['files'][0]['kernels']
with open(sys.argv[2]) as f:
    rows = [line.split() for line in f if line.split()[0].isdigit()]
choice, = [k['choice'] for k in kernels if 'choice' in k]
candidates = choice['candidates']
assert len(rows) == len(candidates) > 3, (len(rows), len(candidates))
for number, (row, c) in enumerate(zip(rows, candidates)):
    assert row[0] == str(number)
    assert row[1] == 'x'.join(map(str, c['coarsening'][:1]))
    assert row[9] == '~%d' % c['counts']['registers']
    assert row[10] == str(c['warpsPerSm'])
    assert row[12] == c['limit']
    assert row[13] == '%.2fx' % c['predictedSpeedup']
    assert ('chosen' in row) == (number == choice['chosen'])
loads = sum(m['perOutput'] for m in candidates[0]['counts']['loads'])
assert rows[0][3] == '%.2f' % loads
ranks = [c['rank'] for c in candidates if 'excluded' not in c]
assert candidates[choice['chosen']]['rank'] == max(ranks)
plan, = [k['plan'] for k in kernels if 'plan' in k]
assert plan['coarsening'] == candidates[choice['chosen']]['coarsening']
