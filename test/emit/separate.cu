// Without __restrict__, what is stored could be what a window would read again:
// the launch looks whether the pointers lead to one allocation, and runs the
// original if they do (halves of one buffer, in place, a pointer to the end of
// another array).
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=TAKEN %s
// RUN: rcache-rewrite %s -o %t.end.cu --force --kernel=fromEnd --coarsen=1 --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=END %s
// RUN: FileCheck --check-prefix=ENDTEXT %s < %t.end.cu
// RUN: rcache-check diff %s %t.end.cu -- -I%S/Inputs
//
// CHECK-DAG: rewrote 'phases' {{.*}}'table' read from its source
// CHECK-DAG: rewrote 'twoResults'
// END: rewrote 'fromEnd' {{.*}}'table' read from its source
// CHECK-DAG: rewrote 'inPlace' {{.*}}'s' kept shared
// TEXT-DAG: (::rcache::device::separate(out, factors)) && (n >= 0)
// TEXT-DAG: (::rcache::device::separate(sum, difference))
// TEXT-DAG: (::rcache::device::separate(right, below))
// TEXT-DAG: (::rcache::device::separate(after, before, true))
// The driver's function has that name, whatever macros of its name there are.
// TEXT-DAG: cudaGetDriverEntryPointByVersion("cuMemGetAddressRange", &f
// TAKEN: equivalent: {{.*}}; {{[1-9][0-9]*}} by a rewritten kernel
// ENDTEXT: (::rcache::device::separate(out, end, true))
#include "program.h"

// How often the table is read is known at run time only.
__global__ void phases(const float *x, const float *factors, float *out, int n) {
  __shared__ float table[32];
  if (threadIdx.x < 32)
    table[threadIdx.x] = factors[threadIdx.x];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float v = x[i];
    for (int k = 0; k <= n % 3; ++k)
      v += table[(threadIdx.x * 5 + k) % 32];
    out[i] = v;
  }
}

// Two results: vector stores of one after scalar ones of the other.
__global__ void twoResults(const float *in, float *sum, float *difference, int n) {
  __shared__ float f[129];
  const int i = blockIdx.x * 128 + threadIdx.x;
  f[threadIdx.x] = i < n ? in[i] : 0.f;
  if (threadIdx.x == 0)
    f[128] = i + 128 < n ? in[i + 128] : 0.f;
  __syncthreads();
  if (i < n) {
    sum[i] = f[threadIdx.x] + f[threadIdx.x + 1];
    difference[i] = f[threadIdx.x] - f[threadIdx.x + 1];
  }
}

// The number of an element has no sign on its way, and might come out negative; but the
// first thread names the first element, if any does.
__global__ void twoTiles(const float *in, float *right, float *below, int w, int h) {
  __shared__ float f[17][17];
  const int x = threadIdx.x, y = threadIdx.y;
  const int g = (blockIdx.y * 16 + y) * w + blockIdx.x * 16 + x;
  const bool inside = blockIdx.x * 16 + x < w && blockIdx.y * 16 + y < h;
  f[y][x] = inside ? in[g] : 0.f;
  if (x == 0)
    f[y][16] = 1.f;
  if (y == 0)
    f[16][x] = 2.f;
  __syncthreads();
  if (inside) {
    right[g] = f[y][x] - f[y][x + 1];
    below[g] = f[y][x] - f[y + 1][x];
  }
}

// Here the first thread does nothing.
__global__ void twoSides(const float *in, float *after, float *before, int w) {
  __shared__ float f[130];
  const int g = (blockIdx.x * 128 + threadIdx.x) * w;
  f[threadIdx.x] = in[blockIdx.x * 128 + threadIdx.x];
  if (threadIdx.x < 2)
    f[128 + threadIdx.x] = 1.f;
  __syncthreads();
  if (threadIdx.x > 0) {
    after[g] = f[threadIdx.x] - f[threadIdx.x + 1];
    before[g] = f[threadIdx.x] - f[threadIdx.x + 2];
  }
}

// `end` stands just behind the array, where another one may begin.
__global__ void fromEnd(const float *end, float *out, int n) {
  __shared__ float table[128];
  table[threadIdx.x] = end[-1 - (int)threadIdx.x];
  __syncthreads();
  const int i = blockIdx.x * 128 + threadIdx.x;
  float v = 1;
  for (int k = 0; k < n % 4; ++k)
    v += table[(threadIdx.x * 7 + k) % 128];
  if (i < n)
    out[i] = 2 * v;
}

__global__ void inPlace(float *data, int n) {
  __shared__ float s[128];
  s[threadIdx.x] = data[blockIdx.x * 128 + threadIdx.x];
  __syncthreads();
  data[blockIdx.x * 128 + threadIdx.x] = s[(threadIdx.x * 7) % n];
}

int main() {
  for (int n : {1, 128, 1000}) {
    Buffer<float> x(randoms<float>(n)), out(n), factors(randoms<float>(32));
    phases<<<blocks(n, 128), 128>>>(x.Data, factors.Data, out.Data, n);
    out.show("phases", n);
    Buffer<float> both(randoms<float>(n + 32)), pair(2 * n), twice(n + 1);
    phases<<<blocks(n, 128), 128>>>(x.Data, both.Data, both.Data + 32, n);
    both.show("phases, one buffer", n);
    Buffer<float> a(n), b(n);
    twoResults<<<blocks(n, 128), 128>>>(x.Data, a.Data, b.Data, n);
    a.show("sum", n);
    b.show("difference", n);
    twoResults<<<blocks(n, 128), 128>>>(x.Data, pair.Data, pair.Data + n, n);
    pair.show("halves", n);
    Buffer<float> right(n), below(n);
    const int w = n < 20 ? n : 20;
    twoTiles<<<dim3(blocks(w, 16), blocks(n / w, 16)), dim3(16, 16)>>>(x.Data, right.Data,
                                                                       below.Data, w, n / w);
    right.show("right", n);
    below.show("below", n);
    Buffer<float> after(256), before(256), some(randoms<float>(256));
    twoSides<<<2, 128>>>(some.Data, after.Data, before.Data, 1);
    after.show("after", n);
    before.show("before", n);
    Buffer<float> ends(randoms<float>(128));
    fromEnd<<<blocks(n, 128), 128>>>(ends.Data + 128, out.Data, n);
    out.show("from the end", n);
    fromEnd<<<1, 128>>>(ends.Data + 128, ends.Data, n < 128 ? n : 128);
    ends.show("onto itself", n);
  }
  // One block, so that only the barrier orders loads and stores: all overlap.
  Buffer<float> table(randoms<float>(128));
  phases<<<1, 128>>>(table.Data, table.Data, table.Data, 128);
  table.show("in place");
  Buffer<float> data(randoms<float>(1024));
  inPlace<<<8, 128>>>(data.Data, 128);
  data.show("same parameter");
}
