// Arrays private to a thread and indexed at run time: counts of the 16 classes
// of a record's bytes, and the stack of a walk through a tree of intervals.
#include "validation.cuh"

#define BINS 16

__global__ void classCounts(const unsigned char *data, unsigned short *hist,
                            int records, int length) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= records)
    return;
  unsigned short h[BINS];
  for (int b = 0; b < BINS; b++)
    h[b] = 0;
  // records are stored by columns
  for (int k = 0; k < length; k++)
    h[data[(size_t)k * records + r] >> 4]++;
  for (int b = 0; b < BINS; b++)
    hist[(size_t)b * records + r] = h[b];
}

// A complete binary tree in the order of a heap: node i has a pivot and a
// weight. Sums the weights of the nodes met by [q - radius, q + radius].
__global__ void rangeWalk(const float *pivot, const float *weight, int nodes,
                          const float *queries, float *sums, int n,
                          float radius) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x) {
    float q = queries[i], total = 0;
    int stack[24];
    int top = 0;
    stack[top++] = 0;
    while (top > 0) {
      int node = stack[--top];
      float p = pivot[node];
      if (fabsf(p - q) <= radius)
        total += weight[node];
      int l = 2 * node + 1, rgt = l + 1;
      if (rgt < nodes && q + radius >= p)
        stack[top++] = rgt;
      if (l < nodes && q - radius <= p)
        stack[top++] = l;
    }
    sums[i] = total;
  }
}

// pivots of a search tree over [-1, 1]
__global__ void buildPivots(float *pivot, int nodes) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= nodes)
    return;
  int level = 31 - __clz(i + 1), first = (1 << level) - 1;
  pivot[i] = -1.0f + (2.0f * (i - first) + 1.0f) / (float)(1 << level);
}

void count(const unsigned char *d, unsigned short *h, int records, int length) {
  classCounts<<<(records + 127) / 128, 128>>>(d, h, records, length);
}
void walk(const float *p, const float *w, int nodes, const float *q, float *s,
          int n) {
  int blocks = std::min((n + 255) / 256, 2048);
  rangeWalk<<<blocks, 256>>>(p, w, nodes, q, s, n, 0.002f);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e :
       extents({{1 << 21, 64, 1}, {300007, 100, 1}, {5000, 33, 1}}, {200, 9, 1})) {
    size_t n = (size_t)e.x * e.y, m = (size_t)e.x * BINS;
    unsigned char *d = filled<unsigned char>(n, 401, 0, 256);
    unsigned short *h = zeros<unsigned short>(m);
    measure("classCounts", text(e), [&] { count(d, h, e.x, e.y); },
            {result(h, m)});
    release(d, h);
  }
  const int nodes = (1 << 12) - 1;
  float *pivot = zeros<float>(nodes), *weight = filled<float>(nodes, 402);
  buildPivots<<<ceil_div(nodes, 256), 256>>>(pivot, nodes);
  check(cudaGetLastError());
  for (int n : sizes({1 << 22, 10007}, 150)) {
    float *q = filled<float>(n, 403), *s = zeros<float>(n);
    measure("rangeWalk", text(n), [&] { walk(pivot, weight, nodes, q, s, n); },
            {result(s, n)});
    release(q, s);
  }
  release(pivot, weight);
}
