// Elements at multiples of the thread's number: scans after Blelloch and Brent,
// trees from neighbours up, sorts and butterflies with two elements a thread. The
// owner of an element runs what a thread of another number does to it.
//
// RUN: rcache-rewrite %s -o %t.cu -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: %if slow %{ %nvcc -ptx %t.cu -o %t.ptx -I%S/Inputs %}
// RUN: %if rcache-check %{ rcache-check diff %s %t.cu -- -I%S/Inputs %}
// RUN: rcache-rewrite %s -o %t.v.cu -q --print-after=verify -- -I%S/Inputs | FileCheck %s --check-prefix=VERIFY --implicit-check-not=WRONG
// RUN: rcache-rewrite %s --force --exchange=owned --kernel=sortPairs -o %t.p.cu -- -I%S/Inputs 2>&1 | FileCheck %s --check-prefix=PAIRS
// RUN: %if slow %{ %nvcc -ptx %t.p.cu -o %t.p.ptx -I%S/Inputs %}
// RUN: %if rcache-check %{ rcache-check diff %s %t.p.cu -- -I%S/Inputs %}
// VERIFY-COUNT-6: owned by a warp; per output {{.*}}: verified,
//
// What is damaged is found by the plan's verifier.
// RUN: rcache-rewrite %s --force --kernel=blelloch --mutate=lane-off-by-one -o %t.bad.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=FIRST %s
// FIRST: the plan verifier found: {{.*}} at line {{[0-9]+}}, thread 0: {{gets element|runs 0 times}}
// RUN: rcache-rewrite %s --force --kernel=sortPairs --mutate=wrong-register -o %t.bad.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=SIDE %s
// SIDE: the plan verifier found: {{.*}}: what it writes does not reach the owner
//
// REQUIRES: cuda-toolkit
#include "program.h"

// GPU Gems 3, chapter 39: exclusive, the sums of blocks beside.
// CHECK-DAG: rewrote 'blelloch' {{.*}}; 'temp' owned by a warp
__global__ void blelloch(const float *in, float *out, float *sums) {
  __shared__ float temp[512];
  int thid = threadIdx.x, base = blockIdx.x * 512;
  int offset = 1;
  temp[2 * thid] = in[base + 2 * thid];
  temp[2 * thid + 1] = in[base + 2 * thid + 1];
  for (int d = 512 >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (thid < d) {
      int ai = offset * (2 * thid + 1) - 1;
      int bi = offset * (2 * thid + 2) - 1;
      temp[bi] += temp[ai];
    }
    offset *= 2;
  }
  if (thid == 0) {
    sums[blockIdx.x] = temp[511];
    temp[511] = 0;
  }
  for (int d = 1; d < 512; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (thid < d) {
      int ai = offset * (2 * thid + 1) - 1;
      int bi = offset * (2 * thid + 2) - 1;
      float t = temp[ai];
      temp[ai] = temp[bi];
      temp[bi] += t;
    }
  }
  __syncthreads();
  out[base + 2 * thid] = temp[2 * thid];
  out[base + 2 * thid + 1] = temp[2 * thid + 1];
}

// As textbooks have it: unsigned indices that look as if they might wrap around.
// CHECK-DAG: rewrote 'brentKung' {{.*}}; 'XY' owned by a warp
__global__ void brentKung(const float *X, float *Y, int n) {
  __shared__ float XY[256];
  int i = 2 * blockIdx.x * blockDim.x + threadIdx.x;
  XY[threadIdx.x] = i < n ? X[i] : 0.0f;
  XY[threadIdx.x + blockDim.x] = i + 128 < n ? X[i + 128] : 0.0f;
  for (unsigned int stride = 1; stride <= blockDim.x; stride *= 2) {
    __syncthreads();
    unsigned int index = (threadIdx.x + 1) * 2 * stride - 1;
    if (index < 256)
      XY[index] += XY[index - stride];
  }
  for (int stride = 256 / 4; stride > 0; stride /= 2) {
    __syncthreads();
    unsigned int index = (threadIdx.x + 1) * stride * 2 - 1;
    if (index + stride < 256)
      XY[index + stride] += XY[index];
  }
  __syncthreads();
  if (i < n)
    Y[i] = XY[threadIdx.x];
  if (i + blockDim.x < n)
    Y[i + blockDim.x] = XY[threadIdx.x + blockDim.x];
}

// CHECK-DAG: rewrote 'neighbours' {{.*}}; 'sdata' owned by a warp
__global__ void neighbours(const int *in, int *out) {
  __shared__ int sdata[256];
  unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  sdata[tid] = in[i];
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    int index = 2 * s * tid;
    if (index < blockDim.x)
      sdata[index] += sdata[index + s];
    __syncthreads();
  }
  if (tid == 0)
    out[blockIdx.x] = sdata[0];
}

// Threads at multiples, elements at twice that.
// CHECK-DAG: rewrote 'twice' {{.*}}; 'p' owned by a warp
__global__ void twice(const float *in, float *out) {
  __shared__ float p[256];
  unsigned int t = threadIdx.x, start = 2 * blockIdx.x * blockDim.x;
  p[t] = in[start + t];
  p[blockDim.x + t] = in[start + blockDim.x + t];
  for (unsigned int stride = 1; stride <= blockDim.x; stride *= 2) {
    __syncthreads();
    if (t % stride == 0)
      p[2 * t] += p[2 * t + stride];
  }
  if (t == 0)
    out[blockIdx.x] = p[0];
}

// The sort of the CUDA samples, two keys a thread, with its comparator.
__device__ inline void Comparator(unsigned &keyA, unsigned &valA, unsigned &keyB,
                                  unsigned &valB, unsigned dir) {
  unsigned t;
  if ((keyA > keyB) == dir) {
    t = keyA;
    keyA = keyB;
    keyB = t;
    t = valA;
    valA = valB;
    valB = t;
  }
}
// PAIRS: rewrote 'sortPairs' {{.*}}; 's_key' owned by a warp; 's_val' owned by a warp
__global__ void sortPairs(const unsigned *srcKey, const unsigned *srcVal,
                          unsigned *dstKey, unsigned *dstVal, unsigned dir) {
  __shared__ unsigned s_key[256];
  __shared__ unsigned s_val[256];
  const unsigned base = blockIdx.x * 256 + threadIdx.x;
  s_key[threadIdx.x + 0] = srcKey[base];
  s_val[threadIdx.x + 0] = srcVal[base];
  s_key[threadIdx.x + 128] = srcKey[base + 128];
  s_val[threadIdx.x + 128] = srcVal[base + 128];
  for (unsigned size = 2; size < 256; size <<= 1) {
    unsigned ddd = dir ^ ((threadIdx.x & (size / 2)) != 0);
    for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
      __syncthreads();
      unsigned pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
      Comparator(s_key[pos + 0], s_val[pos + 0], s_key[pos + stride],
                 s_val[pos + stride], ddd);
    }
  }
  for (unsigned stride = 128; stride > 0; stride >>= 1) {
    __syncthreads();
    unsigned pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
    Comparator(s_key[pos + 0], s_val[pos + 0], s_key[pos + stride],
               s_val[pos + stride], dir);
  }
  __syncthreads();
  dstKey[base] = s_key[threadIdx.x + 0];
  dstVal[base] = s_val[threadIdx.x + 0];
  dstKey[base + 128] = s_key[threadIdx.x + 128];
  dstVal[base + 128] = s_val[threadIdx.x + 128];
}

// A transform of 128 with half as many threads.
// CHECK-DAG: rewrote 'walsh' {{.*}}; 's' owned by a warp
__global__ void walsh(const float *in, float *out) {
  __shared__ float s[128];
  const int t = threadIdx.x, base = blockIdx.x * 128;
  s[t] = in[base + t];
  s[t + 64] = in[base + t + 64];
  for (int stride = 1; stride < 128; stride *= 2) {
    __syncthreads();
    int lo = t & (stride - 1);
    int i0 = 2 * t - lo, i1 = i0 + stride;
    float a = s[i0], b = s[i1];
    s[i0] = a + b;
    s[i1] = a - b;
  }
  __syncthreads();
  out[base + t] = s[t];
  out[base + t + 64] = s[t + 64];
}

// What stays: the two elements are no pair that one bit tells apart;
// CHECK-DAG: 'shifted' left as it is{{.*}}[computed-exchange]
// CHECK-DAG: a warp could hold the array, but 's[2 * t + 1]' in line {{[0-9]+}} changes with another element, and both are no pair that one bit tells apart
__global__ void shifted(const int *in, int *out) {
  __shared__ int s[130];
  const int t = threadIdx.x, base = blockIdx.x * 64;
  s[t] = in[base + t];
  s[t + 64] = t;
  __syncthreads();
  for (int r = 0; r < 3; ++r) {
    if (t < 63) {
      int a = s[2 * t + 1];
      s[2 * t + 1] = s[2 * t + 2];
      s[2 * t + 2] = a + 1;
    }
    __syncthreads();
  }
  out[base + t] = s[t];
}

// a thread that has an element for itself does something else beside;
// CHECK-DAG: 'counts' left as it is{{.*}}[computed-exchange]
// CHECK-DAG: a warp could hold the array, but the statements around 's[2 * d * t + d]' in line {{[0-9]+}} {{do more than a thread of another number can do|use variables that a thread has for itself}}
__global__ void counts(const int *in, int *out) {
  __shared__ int s[64];
  const int t = threadIdx.x, base = blockIdx.x * 64;
  int mine = 0;
  s[t] = in[base + t];
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    if (2 * d * t + d < 64) {
      mine += s[2 * d * t + d];
      s[2 * d * t] += s[2 * d * t + d];
    }
    __syncthreads();
  }
  out[base + t] = s[t] + mine;
}

// and threads change an element that others read meanwhile.
// CHECK-DAG: 'races' left as it is{{.*}}[computed-exchange]
// CHECK-DAG: a warp could hold the array, but 's[2 * t + 2]' in line {{[0-9]+}} may be changed by another thread meanwhile
__global__ void races(const int *in, int *out, int *other) {
  __shared__ int s[130];
  const int t = threadIdx.x, base = blockIdx.x * 64;
  s[t] = in[base + t];
  s[t + 64] = t;
  __syncthreads();
  for (int r = 0; r < 2; ++r) {
    if (in[base + t] >= 0 && t < 60) {
      if (in[base + 1] < 0)
        s[2 * t] += s[2 * t + 2];
    }
    __syncthreads();
  }
  out[base + t] = s[t];
}

// A thread's loads and stores are in order, those of the lanes that do them for it
// are not: what is loaded for a run is not changed elsewhere.
// CHECK-DAG: 'inPlace' left as it is{{.*}}[computed-exchange]
// CHECK-DAG: a warp could hold the array, but 'data[base + 2 * t]' in line {{[0-9]+}} would be done by another lane than 'data[base + t]', which may be the same memory and is not read alone
__global__ void inPlace(float *data) {
  __shared__ float s[128];
  const int t = threadIdx.x, base = blockIdx.x * 128;
  s[2 * t] = data[base + 2 * t];
  s[2 * t + 1] = data[base + 2 * t + 1];
  for (int d = 1; d < 128; d *= 2) {
    __syncthreads();
    if (2 * d * t + d < 128)
      s[2 * d * t] += s[2 * d * t + d];
  }
  __syncthreads();
  data[base + t] = s[t];
  data[base + t + 64] = s[t + 64];
}

int main(int argc, char **) {
  const int n = 4096 * argc; // no constant
  Buffer<float> F(randoms<float>(n)), G(n), H(n);
  Buffer<int> I(randoms<int>(n)), J(n), K(n);
  Buffer<unsigned> U(randoms<unsigned>(n)), V(randoms<unsigned>(n)), W(n), X(n);
  blelloch<<<n / 512, 256>>>(F.Data, G.Data, H.Data);
  G.show("blelloch");
  H.show("blelloch");
  brentKung<<<n / 256, 128>>>(F.Data, G.Data, n);
  G.show("brentKung");
  brentKung<<<2 + argc, 128>>>(F.Data, G.Data, 701);
  G.show("brentKung");
  neighbours<<<n / 256, 256>>>(I.Data, J.Data);
  J.show("neighbours");
  twice<<<n / 256, 128>>>(F.Data, G.Data);
  G.show("twice");
  sortPairs<<<n / 256, 128>>>(U.Data, V.Data, W.Data, X.Data, 1);
  W.show("sortPairs");
  X.show("sortPairs");
  sortPairs<<<n / 256, 128>>>(U.Data, V.Data, W.Data, X.Data, 0);
  W.show("sortPairs");
  X.show("sortPairs");
  walsh<<<n / 128, 64>>>(F.Data, G.Data);
  G.show("walsh");
  shifted<<<n / 64, 64>>>(I.Data, J.Data);
  J.show("shifted");
  counts<<<n / 64, 64>>>(I.Data, J.Data);
  J.show("counts");
  races<<<n / 64, 64>>>(I.Data, J.Data, K.Data);
  J.show("races");
  inPlace<<<n / 128, 64>>>(G.Data);
  G.show("inPlace");
}
