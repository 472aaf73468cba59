// Range counting in an implicit kd-tree with a small stack, and a postfix calculator.
#include "bench.h"
#include <algorithm>

#define STACK_SIZE 24

// nodes in heap order: point i, children 2i+1 and 2i+2, split by x and y in turn
__global__ void kdRangeCount(const float2 *nodes, int nNodes, const float4 *boxes, int *count, int n) {
  int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q >= n)
    return;
  float4 b = boxes[q]; // x0 y0 x1 y1
  int stack[STACK_SIZE];
  int sp = 0;
  stack[sp++] = 0;
  int found = 0;
  while (sp > 0) {
    int node = stack[--sp];
    float2 p = nodes[node];
    if (p.x >= b.x && p.x <= b.z && p.y >= b.y && p.y <= b.w)
      ++found;
    int depth = 31 - __clz(node + 1);
    float key = (depth & 1) ? p.y : p.x;
    float lo = (depth & 1) ? b.y : b.x;
    float hi = (depth & 1) ? b.w : b.z;
    int left = 2 * node + 1, right = left + 1;
    if (right < nNodes && key <= hi)
      stack[sp++] = right;
    if (left < nNodes && key >= lo)
      stack[sp++] = left;
  }
  count[q] = found;
}

enum Op { PUSH_X = 0, PUSH_C = 1, ADD = 2, SUB = 3, MAXI = 4, NEG = 5 };

__global__ void evalPostfix(const int *program, int length, const int *x, int *y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int st[16];
    int top = 0;
    for (int pc = 0; pc < length; ++pc) {
      int word = program[pc];
      int op = word & 7, arg = word >> 3;
      if (op == PUSH_X)
        st[top++] = x[i] + arg;
      else if (op == PUSH_C)
        st[top++] = arg;
      else if (op == NEG)
        st[top - 1] = -st[top - 1];
      else {
        int b = st[--top];
        int a = st[top - 1];
        st[top - 1] = op == ADD ? a + b : op == SUB ? a - b : (a > b ? a : b);
      }
    }
    y[i] = st[0];
  }
}

static void buildKd(std::vector<float2> &pts, int lo, int hi, int node, int depth, std::vector<float2> &nodes) {
  if (lo >= hi || node >= (int)nodes.size())
    return;
  int mid = lo + (hi - lo) / 2;
  std::nth_element(pts.begin() + lo, pts.begin() + mid, pts.begin() + hi, [&](const float2 &a, const float2 &b) {
    return (depth & 1) ? a.y < b.y : a.x < b.x;
  });
  nodes[node] = pts[mid];
  buildKd(pts, lo, mid, 2 * node + 1, depth + 1, nodes);
  buildKd(pts, mid + 1, hi, 2 * node + 2, depth + 1, nodes);
}

int main() {
  {
    const int nNodes = (1 << 16) - 1, n = 500000;
    Rng r(311);
    std::vector<float2> pts(nNodes), nodes(nNodes);
    for (auto &p : pts)
      p = make_float2(r.uniform(), r.uniform());
    buildKd(pts, 0, nNodes, 0, 0, nodes);
    std::vector<float4> boxes(n);
    for (auto &b : boxes) {
      float x = r.uniform(), y = r.uniform();
      b = make_float4(x, y, x + 0.01f, y + 0.01f);
    }
    float2 *dn = toDevice(nodes);
    float4 *db = toDevice(boxes);
    int *count = deviceAlloc<int>(n);
    printTime("kdRangeCount", timeMin([&] { kdRangeCount<<<(n + 255) / 256, 256>>>(dn, nNodes, db, count, n); }));
    printHash("kdRangeCount", count, n);
  }
  {
    std::vector<int> prog;
    Rng r(312);
    int depth = 0;
    while (prog.size() < 60 || depth > 1) {
      int op;
      if (depth < 2 || (depth < 10 && prog.size() < 50 && r.next() % 2))
        op = r.next() % 2;
      else
        op = 2 + r.next() % 4;
      prog.push_back((int)(r.next() % 100) * 8 + op);
      depth += op < 2 ? 1 : op == NEG ? 0 : -1;
    }
    const int n = 4000000;
    int *dp = toDevice(prog), *x = toDevice(randomInts<int>(n, 313, 1000)), *y = deviceAlloc<int>(n);
    int len = (int)prog.size();
    printTime("evalPostfix", timeMin([&] { evalPostfix<<<(n + 127) / 128, 128>>>(dp, len, x, y, n); }));
    printHash("evalPostfix", y, n);
  }
  return 0;
}
