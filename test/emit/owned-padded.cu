// Scans padded against conflicts of banks, in arrays that a warp owns without
// the padding: by macros, in one or two levels, added to the index or to a
// variable, in all block sizes; and what looks like padding and is none.
//
// RUN: rcache-rewrite %s --force --exchange=owned -o %t.cu -- -I%S/Inputs >%t.log 2>&1
// RUN: FileCheck %s --input-file=%t.log
// RUN: FileCheck %s --input-file=%t.log --check-prefix=PLANS
// RUN: %if slow %{ %nvcc -ptx %t.cu -o %t.ptx -I%S/Inputs %}
// RUN: %if rcache-check %{ rcache-check diff %s %t.cu -- -I%S/Inputs %}
//
// All plans were executed before they were written.
// PLANS-NOT: the plan was not executed
//
// REQUIRES: cuda-toolkit
#include "program.h"

#define CF(n) ((n) >> 5)
#define CF_LEVELS(n) (((n) >> 4) + ((n) >> 8))
// CHECK-DAG: rewrote 'scan<64>' {{.*}}; 'temp' owned by a warp
// CHECK-DAG: rewrote 'scan<128>' {{.*}}; 'temp' owned by a warp
// CHECK-DAG: rewrote 'scan<256>' {{.*}}; 'temp' owned by a warp
// CHECK-DAG: rewrote 'scan<512>' {{.*}}; 'temp' owned by a warp
// CHECK-DAG: rewrote 'scan<1024>' {{.*}}; 'temp' owned by a warp
template <int N> __global__ void scan(const int *in, int *out) {
  __shared__ int temp[N + N / 32];
  int thid = threadIdx.x, offset = 1;
  int base = blockIdx.x * N;
  int ai = thid, bi = thid + N / 2;
  int bankOffsetA = CF(ai), bankOffsetB = CF(bi);
  temp[ai + bankOffsetA] = in[base + ai];
  temp[bi + bankOffsetB] = in[base + bi];
  for (int d = N >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (thid < d) {
      int ai = offset * (2 * thid + 1) - 1;
      int bi = offset * (2 * thid + 2) - 1;
      ai += CF(ai);
      bi += CF(bi);
      temp[bi] += temp[ai];
    }
    offset *= 2;
  }
  if (thid == 0)
    temp[N - 1 + CF(N - 1)] = 0;
  for (int d = 1; d < N; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (thid < d) {
      int ai = offset * (2 * thid + 1) - 1;
      int bi = offset * (2 * thid + 2) - 1;
      ai += CF(ai);
      bi += CF(bi);
      int t = temp[ai];
      temp[ai] = temp[bi];
      temp[bi] += t;
    }
  }
  __syncthreads();
  out[base + ai] = temp[ai + bankOffsetA];
  out[base + bi] = temp[bi + bankOffsetB];
}

// CHECK-DAG: rewrote 'levels<256>' {{.*}}; 'temp' owned by a warp
// CHECK-DAG: rewrote 'levels<512>' {{.*}}; 'temp' owned by a warp
template <int N> __global__ void levels(const int *in, int *out) {
  __shared__ int temp[N + N / 16 + N / 256];
  int thid = threadIdx.x, offset = 1;
  int base = blockIdx.x * N;
  int ai = thid, bi = thid + N / 2;
  int bankOffsetA = CF_LEVELS(ai), bankOffsetB = CF_LEVELS(bi);
  temp[ai + bankOffsetA] = in[base + ai];
  temp[bi + bankOffsetB] = in[base + bi];
  for (int d = N >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (thid < d) {
      int ai = offset * (2 * thid + 1) - 1;
      int bi = offset * (2 * thid + 2) - 1;
      ai += CF_LEVELS(ai);
      bi += CF_LEVELS(bi);
      temp[bi] += temp[ai];
    }
    offset *= 2;
  }
  if (thid == 0)
    temp[N - 1 + CF_LEVELS(N - 1)] = 0;
  for (int d = 1; d < N; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (thid < d) {
      int ai = offset * (2 * thid + 1) - 1;
      int bi = offset * (2 * thid + 2) - 1;
      ai += CF_LEVELS(ai);
      bi += CF_LEVELS(bi);
      int t = temp[ai];
      temp[ai] = temp[bi];
      temp[bi] += t;
    }
  }
  __syncthreads();
  out[base + ai] = temp[ai + bankOffsetA];
  out[base + bi] = temp[bi + bankOffsetB];
}

// Padding that one of the accesses forgets, or has another of: all of the array
// is padded in one way or none of it is taken out.
#define CF16(n) ((n) >> 4)
#define ODD(n) ((n) >> 6)
// CHECK-DAG: rewrote 'forgetsOut' {{.*}}; 'temp' kept shared
__global__ void forgetsOut(const int *in, int *out) {
  __shared__ int temp[256 + 32];
  int thid = threadIdx.x, offset = 1, base = blockIdx.x * 256;
  int ai = thid, bi = thid + 128;
  for (int k = thid; k < 256 + 32; k += 128)
    temp[k] = k;
  __syncthreads();
  temp[ai + CF(ai)] = in[base + ai];
  temp[bi + CF(bi)] = in[base + bi];
  for (int d = 128; d > 0; d >>= 1) {
    __syncthreads();
    if (thid < d) {
      int ai = offset * (2 * thid + 1) - 1;
      int bi = offset * (2 * thid + 2) - 1;
      ai += CF(ai);
      bi += CF(bi);
      temp[bi] += temp[ai];
    }
    offset *= 2;
  }
  __syncthreads();
  out[base + ai] = temp[ai];
  out[base + bi] = temp[bi];
}
// CHECK-DAG: rewrote 'forgetsTree' {{.*}}; 'temp' kept shared
__global__ void forgetsTree(const int *in, int *out) {
  __shared__ int temp[128 + 16];
  int thid = threadIdx.x, offset = 1, base = blockIdx.x * 128;
  int ai = thid, bi = thid + 64;
  for (int k = thid; k < 128 + 16; k += 64)
    temp[k] = k;
  __syncthreads();
  temp[ai + CF(ai)] = in[base + ai];
  temp[bi + CF(bi)] = in[base + bi];
  for (int d = 64; d > 0; d >>= 1) {
    __syncthreads();
    if (thid < d) {
      int ai = offset * (2 * thid + 1) - 1;
      int bi = offset * (2 * thid + 2) - 1;
      temp[bi] += temp[ai];
    }
    offset *= 2;
  }
  __syncthreads();
  out[base + ai] = temp[ai + CF(ai)];
  out[base + bi] = temp[bi + CF(bi)];
}
// CHECK-DAG: rewrote 'anotherTree' {{.*}}; 'temp' kept shared
__global__ void anotherTree(const int *in, int *out) {
  __shared__ int temp[256 + 32];
  int thid = threadIdx.x, offset = 1, base = blockIdx.x * 256;
  int ai = thid, bi = thid + 128;
  for (int k = thid; k < 256 + 32; k += 128)
    temp[k] = k;
  __syncthreads();
  temp[ai + CF(ai)] = in[base + ai];
  temp[bi + CF(bi)] = in[base + bi];
  for (int d = 128; d > 0; d >>= 1) {
    __syncthreads();
    if (thid < d) {
      int ai = offset * (2 * thid + 1) - 1;
      int bi = offset * (2 * thid + 2) - 1;
      ai += ODD(ai);
      bi += ODD(bi);
      temp[bi] += temp[ai];
    }
    offset *= 2;
  }
  __syncthreads();
  out[base + ai] = temp[ai + CF(ai)];
  out[base + bi] = temp[bi + CF(bi)];
}
// CHECK-DAG: rewrote 'oneLevel' {{.*}}; 'temp' kept shared
__global__ void oneLevel(const int *in, int *out) {
  __shared__ int temp[512 + 64];
  int thid = threadIdx.x, offset = 1, base = blockIdx.x * 512;
  int ai = thid, bi = thid + 256;
  for (int k = thid; k < 512 + 64; k += 256)
    temp[k] = k;
  __syncthreads();
  temp[ai + CF_LEVELS(ai)] = in[base + ai];
  temp[bi + CF_LEVELS(bi)] = in[base + bi];
  for (int d = 256; d > 0; d >>= 1) {
    __syncthreads();
    if (thid < d) {
      int ai = offset * (2 * thid + 1) - 1;
      int bi = offset * (2 * thid + 2) - 1;
      ai += CF_LEVELS(ai);
      bi += CF_LEVELS(bi);
      temp[bi] += temp[ai];
    }
    offset *= 2;
  }
  __syncthreads();
  out[base + ai] = temp[ai + CF16(ai)];
  out[base + bi] = temp[bi + CF16(bi)];
}

// By divisions and with the thread's number, which come to the same elements;
// of types without a sign; two arrays declared together. CHECK-DAG: rewrote
// 'divided' {{.*}}; 'a' owned by a warp; 'b' owned by a warp
__global__ void divided(const unsigned *in, unsigned *out) {
  __shared__ unsigned a[256 + 8], b[256 + 8];
  const unsigned t = threadIdx.x, g = blockIdx.x * 256u;
  a[2 * t + t / 16] = in[g + 2 * t];
  a[2 * t + 1 + (2 * t + 1) / 32] = in[g + 2 * t + 1];
  b[2 * t + (t >> 4)] = in[g + 2 * t] >> 7;
  b[2 * t + 1 + (2 * t + 1) / 32] = in[g + 2 * t + 1] >> 9;
  unsigned step = 1u;
  for (unsigned d = 128u; d > 0u; d >>= 1) {
    __syncthreads();
    if (t < d) {
      unsigned i = step * (2u * t + 1u) - 1u;
      unsigned j = step * (2u * t + 2u) - 1u;
      i += i / 32u;
      j += j / 32u;
      a[j] += a[i];
      b[j] ^= b[i];
    }
    step *= 2u;
  }
  __syncthreads();
  out[g + 2 * t] = a[2 * t + t / 16] + b[2 * t + t / 16];
  out[g + 2 * t + 1] =
      a[2 * t + 1 + (2 * t + 1) / 32] - b[2 * t + 1 + (2 * t + 1) / 32];
}

// What pads is a number of the thread, and lies in the array for itself.
// CHECK-DAG: rewrote 'scratch' {{.*}}; 's' kept shared
__global__ void scratch(const int *in, int *out) {
  __shared__ int s[256 + 8];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t + (t >> 5)] = in[g];
  if (t % 32 == 31)
    s[t + (t >> 5) + 1] = t;
  for (int d = 128; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) {
      int j = t + d;
      s[t + (t >> 5)] += s[j + (j >> 5)];
    }
  }
  __syncthreads();
  out[g] = s[t + (t >> 5)] + s[(t | 31) + (t >> 5) + 1];
}

// How much is padded is an argument, of two values.
// CHECK-DAG: rewrote 'byArgument' {{.*}}; 's' kept shared
__global__ void byArgument(const int *in, int *out, int shift) {
  __shared__ int s[128 + 16];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t + (t >> shift)] = in[g];
  for (int d = 64; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) {
      int j = t + d;
      s[t + (t >> shift)] += s[j + (j >> shift)];
    }
  }
  __syncthreads();
  out[g] = s[t + (t >> shift)];
}

// Two arrays in one allocation, each padded.
// CHECK-DAG: rewrote 'allocated' {{.*}}; 'both' kept shared
__global__ void allocated(const int *in, int *out) {
  extern __shared__ int both[];
  int *a = both, *b = both + 128 + 4;
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  a[t + (t >> 5)] = in[g];
  b[t + (t >> 5)] = in[g] * 3;
  for (int d = 64; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) {
      int j = t + d;
      a[t + (t >> 5)] += a[j + (j >> 5)];
      b[t + (t >> 5)] ^= b[j + (j >> 5)];
    }
  }
  __syncthreads();
  out[g] = a[t + (t >> 5)] + b[t + (t >> 5)];
}

// Elements below 0 would be padded downwards; nobody names them.
// CHECK-DAG: rewrote 'below' {{.*}}; 's' owned by a warp
__global__ void below(const int *in, int *out) {
  __shared__ int s[128 + 4];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t + (t >> 5)] = in[g];
  __syncthreads();
  for (int d = 1; d < 128; d *= 2) {
    int q = t - d, v = 0;
    q += q >> 5;
    if (q >= 0)
      v = s[q];
    __syncthreads();
    s[t + (t >> 5)] += v;
    __syncthreads();
  }
  out[g] = s[t + (t >> 5)];
}

int main() {
  const int n = 6144;
  Buffer<int> I(randoms<int>(n)), J(n);
  Buffer<unsigned> U(randoms<unsigned>(n)), V(n);
#define RUN(NAME, N)                                                           \
  NAME<<<n / N, N / 2>>>(I.Data, J.Data);                                      \
  J.show(#NAME);
  RUN(scan<64>, 64)
  RUN(scan<128>, 128)
  RUN(scan<256>, 256)
  RUN(scan<512>, 512)
  RUN(scan<1024>, 1024)
  RUN(levels<256>, 256)
  RUN(levels<512>, 512)
  RUN(forgetsOut, 256)
  RUN(forgetsTree, 128)
  RUN(anotherTree, 256)
  RUN(oneLevel, 512)
  divided<<<n / 256, 128>>>(U.Data, V.Data);
  V.show("divided");
  scratch<<<n / 256, 256>>>(I.Data, J.Data);
  J.show("scratch");
  byArgument<<<n / 128, 128>>>(I.Data, J.Data, 5);
  J.show("byArgument 5");
  byArgument<<<n / 128, 128>>>(I.Data, J.Data, 3);
  J.show("byArgument 3");
  allocated<<<n / 128, 128, 2 * (128 + 4) * sizeof(int)>>>(I.Data, J.Data);
  J.show("allocated");
  below<<<n / 128, 128>>>(I.Data, J.Data);
  J.show("below");
}
