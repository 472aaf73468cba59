// Arrays that a warp owns, with partners whose numbers differ in bits (t ^ j):
// sorts, butterflies. A partner's element may be written.
//
// RUN: rcache-rewrite %s -o %t.cu -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: %if slow %{ %nvcc -ptx %t.cu -o %t.ptx -I%S/Inputs %}
// RUN: %if rcache-check %{ rcache-check diff %s %t.cu -- -I%S/Inputs %}
//
// What is damaged is found by the plan's verifier.
// RUN: rcache-rewrite %s --force --kernel=bitonic --mutate=lane-off-by-one -o %t.bad.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=LANE %s
// LANE: the plan verifier found: s[x] at line {{[0-9]+}}, thread 0: its partner is another thread's
// RUN: rcache-rewrite %s --force --kernel=hadamard --mutate=wrong-register -o %t.bad.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=OWN %s
// OWN: the plan verifier found: s[t ^ h] at line {{[0-9]+}}, thread 0: element 1 is another's
//
// REQUIRES: cuda-toolkit
#include "program.h"

// CHECK-DAG: rewrote 'bitonic' {{.*}}; 's' owned by a warp
__global__ void bitonic(const int *in, int *out) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 128 + t];
  __syncthreads();
  for (int k = 2; k <= 128; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      int x = t ^ j;
      if (x > t) {
        bool up = (t & k) == 0;
        int a = s[t], b = s[x];
        if ((a > b) == up) {
          s[t] = b;
          s[x] = a;
        }
      }
      __syncthreads();
    }
  out[blockIdx.x * 128 + t] = s[t];
}

// Keys with payloads, a function that swaps, shifts and unsigned numbers.
// CHECK-DAG: rewrote 'pairs' {{.*}}; 'key' owned by a warp; 'value' owned by a warp
__global__ void pairs(const float *in, float *keys, int *values) {
  __shared__ float key[64];
  __shared__ int value[64];
  unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t;
  key[t] = in[g];
  value[t] = g;
  for (unsigned k = 2; k <= 64; k <<= 1)
    for (unsigned j = k >> 1; j > 0; j >>= 1) {
      __syncthreads();
      const unsigned p = j ^ t;
      if (p > t && (key[t] > key[p]) == ((t & k) == 0)) {
        float f = key[t];
        key[t] = key[p];
        key[p] = f;
        int i = value[t];
        value[t] = value[p];
        value[p] = i;
      }
    }
  __syncthreads();
  keys[g] = key[t];
  values[g] = value[t];
}

// Each thread takes the smaller or the larger one for itself.
// CHECK-DAG: rewrote 'minMax' {{.*}}; 's' owned by a warp
__global__ void minMax(const double *in, double *out) {
  __shared__ double s[64];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 64 + t];
  __syncthreads();
  for (int k = 2; k <= 64; k *= 2) {
    for (int j = k / 2; j > 0; j /= 2) {
      double mine = s[t], other = s[t ^ j];
      __syncthreads();
      s[t] = ((t & j) == 0) == ((t & k) == 0) ? fmin(mine, other)
                                              : fmax(mine, other);
      __syncthreads();
    }
  }
  out[blockIdx.x * 64 + t] = s[t];
}

// CHECK-DAG: rewrote 'hadamard' {{.*}}; 's' owned by a warp; per output 5.00 shuffles
__global__ void hadamard(const float *in, float *out) {
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int h = 1; h < 256; h *= 2) {
    float a = s[t], b = s[t ^ h];
    __syncthreads();
    s[t] = (t & h) ? b - a : a + b;
    __syncthreads();
  }
  out[blockIdx.x * 256 + t] = s[t];
}

// Numbers for partners, small elements, a reversal (t ^ 63) in each step; what
// goes back are bits: -0, NaN.
// CHECK-DAG: rewrote 'reversed' {{.*}}; 's' owned by a warp
__global__ void reversed(const short *in, short *out) {
  __shared__ short s[64];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[t] = in[g];
  __syncthreads();
  for (int k = 0; k < 3; ++k) {
    short v = s[t ^ 1];
    __syncthreads();
    s[63 - t] = (short)(v + k);
    __syncthreads();
  }
  out[g] = s[t];
}
// CHECK-DAG: rewrote 'bits' {{.*}}; 's' owned by a warp
__global__ void bits(const float *in, float *out) {
  __shared__ float s[64];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[t] = t % 3 ? in[g] : t % 2 ? -0.0f : __int_as_float(0x7f800001 + t);
  __syncthreads();
  for (int d = 32; d > 0; d /= 2) {
    if (t & d) {
      float v = s[t ^ d];
      if (!(s[t] < v)) {
        s[t ^ d] = s[t];
        s[t] = v;
      }
    }
    __syncthreads();
  }
  out[g] = s[t];
}

// The thread in front swaps for both; so does the one behind, at a distance.
// CHECK-DAG: rewrote 'oddEven' {{.*}}; 's' owned by a warp
__global__ void oddEven(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 64 + t];
  __syncthreads();
  for (int r = 0; r < 64; ++r) {
    if (t % 2 == r % 2 && t + 1 < 64 && s[t] > s[t + 1]) {
      int v = s[t];
      s[t] = s[t + 1];
      s[t + 1] = v;
    }
    __syncthreads();
  }
  out[blockIdx.x * 64 + t] = s[t];
}
// CHECK-DAG: rewrote 'pushed' {{.*}}; 's' owned by a warp
__global__ void pushed(const float *in, float *out) {
  __shared__ float s[128];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = in[g];
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    float v = s[t];
    __syncthreads();
    if (t >= d)
      s[t - d] += v;
    __syncthreads();
  }
  out[g] = s[t];
}

// Three slots: partners of bit 5 have no lane's bit in chunks, and 64 ^ 32 is no
// thread of the block.
// CHECK-DAG: rewrote 'three' {{.*}}; 's' owned by a warp
__global__ void three(const int *in, int *out) {
  __shared__ int s[96];
  int t = threadIdx.x, g = blockIdx.x * 96 + t;
  s[t] = in[g];
  __syncthreads();
  for (int d = 16; d > 0; d /= 2) {
    int v = s[t] + 3 * s[t ^ d];
    __syncthreads();
    s[t] = v;
    __syncthreads();
  }
  out[g] = s[t];
}
// CHECK-DAG: 'outside' left as it is
__global__ void outside(const int *in, int *out) {
  __shared__ int s[96];
  int t = threadIdx.x, g = blockIdx.x * 96 + t;
  s[t] = in[g];
  __syncthreads();
  for (int d = 32; d > 0; d /= 2) {
    int v = (t ^ d) < 96 ? s[t ^ d] : 0;
    __syncthreads();
    s[t] += v;
    __syncthreads();
  }
  out[g] = s[t];
}

// The same element by two names: what was written by one is read by the other.
// CHECK-DAG: 'twoNames' left as it is
__global__ void twoNames(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[t] = in[g];
  __syncthreads();
  for (int d = 32; d > 0; d /= 2) {
    if ((t & d) == 0) {
      s[t ^ d] += s[t];
      s[t] = s[t + d];
    }
    __syncthreads();
  }
  out[g] = s[t];
}
// A partner that is the thread itself in the last round.
// CHECK-DAG: 'itself' left as it is
__global__ void itself(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[t] = in[g];
  __syncthreads();
  for (int d = 3; d >= 0; --d) {
    int v = s[t ^ d];
    __syncthreads();
    s[t] += v;
    __syncthreads();
  }
  out[g] = s[t];
}

int main(int argc, char **) {
  const int n = 6144 * argc; // no constant
  Buffer<float> F(randoms<float>(n)), G(n);
  Buffer<int> I(randoms<int>(n)), J(n);
  Buffer<double> D(randoms<double>(n)), E(n);
  Buffer<short> S(randoms<short>(n)), T(n);
  bitonic<<<n / 128, 128>>>(I.Data, J.Data);
  J.show("bitonic");
  pairs<<<n / 64, 64>>>(F.Data, G.Data, J.Data);
  G.show("pairs");
  J.show("pairs");
  minMax<<<n / 64, 64>>>(D.Data, E.Data);
  E.show("minMax");
  hadamard<<<n / 256, 256>>>(F.Data, G.Data);
  G.show("hadamard");
  reversed<<<n / 64, 64>>>(S.Data, T.Data);
  T.show("reversed");
  bits<<<n / 64, 64>>>(F.Data, G.Data);
  G.show("bits");
  oddEven<<<n / 64, 64>>>(I.Data, J.Data);
  J.show("oddEven");
  pushed<<<n / 128, 128>>>(F.Data, G.Data);
  G.show("pushed");
  three<<<n / 96, 96>>>(I.Data, J.Data);
  J.show("three");
  outside<<<n / 96, 96>>>(I.Data, J.Data);
  J.show("outside");
  twoNames<<<n / 64, 64>>>(I.Data, J.Data);
  J.show("twoNames");
  itself<<<n / 64, 64>>>(I.Data, J.Data);
  J.show("itself");
}
