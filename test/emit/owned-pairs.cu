// Arrays that a warp owns, whose threads change their partner's element: both run
// what one of them would, each for its own element. A pair within a lane takes no
// shuffle, one in two lanes takes one a lane.
//
// RUN: rcache-rewrite %s --force -o %t.cu -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: %if slow %{ %nvcc -ptx %t.cu -o %t.ptx -I%S/Inputs %}
// RUN: %if rcache-check %{ rcache-check diff %s %t.cu -- -I%S/Inputs %}
//
// What is damaged is found by the plan's verifier.
// RUN: rcache-rewrite %s --force --kernel=keys --mutate=lane-off-by-one -o %t.bad.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=LANE %s
// LANE: the plan verifier found: s[x] at line {{[0-9]+}}, thread 0: its partner is another thread's
//
// REQUIRES: cuda-toolkit
#include "program.h"

// TEXT-LABEL: {{^    |void }}{{key}}s_rc(
// TEXT: const auto rc_run = [&](const unsigned int rc_thread_x, int &rc_s_mine,
// TEXT-NOT: {{rewritte}}n(
// TEXT-LABEL: void {{key}}s_rc_launch(
// CHECK-DAG: rewrote 'keys' {{.*}}; 's' owned by a warp
__global__ void keys(const int *in, int *out, int descending) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int k = 2; k <= 256; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      int x = t ^ j;
      if (x > t) {
        if ((t & k) == 0 ? s[t] > s[x] : s[t] < s[x]) {
          int v = s[t];
          s[t] = s[x];
          s[x] = v;
        }
      }
      __syncthreads();
    }
  if (descending) // (all threads alike)
    out[blockIdx.x * 256 + 255 - t] = s[t];
  else
    out[blockIdx.x * 256 + t] = s[t];
}

// Equal keys stay where they are, with what belongs to them; NaN, -0.
// TEXT-LABEL: {{^    |void }}{{payloa}}d_rc(
// TEXT: rc_run
// TEXT-NOT: {{rewritte}}n(
// TEXT-LABEL: void {{payloa}}d_rc_launch(
// CHECK-DAG: rewrote 'payload' {{.*}}; 'key' owned by a warp; 'value' owned by a warp
__global__ void payload(const float *in, float *keys, int *values, int up) {
  __shared__ float key[128];
  __shared__ int value[128];
  const unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t;
  key[t] = t % 7 == 3   ? __int_as_float(0x7fc00000 + t)
           : t % 5 == 1 ? 0.0f
           : t % 5 == 2 ? -0.0f
                        : in[g];
  value[t] = g;
  for (unsigned k = 2; k <= 128; k <<= 1)
    for (unsigned j = k >> 1; j > 0; j >>= 1) {
      __syncthreads();
      const unsigned p = j ^ t;
      if (p > t) {
        bool rising = ((t & k) == 0) == (up != 0);
        if (rising ? key[t] > key[p] : key[t] < key[p]) {
          float f = key[t];
          key[t] = key[p];
          key[p] = f;
          int i = value[t];
          value[t] = value[p];
          value[p] = i;
        }
      }
    }
  __syncthreads();
  keys[g] = key[t];
  values[g] = value[t];
}

// The thread with the bit runs; a table is read by it.
// TEXT-LABEL: {{^    |void }}{{uppe}}r_rc(
// TEXT: rc_run
// TEXT: & {{\(?d\)?}}) != 0)
// TEXT-NOT: {{rewritte}}n(
// TEXT-LABEL: void {{uppe}}r_rc_launch(
// CHECK-DAG: rewrote 'upper' {{.*}}; 's' owned by a warp
__global__ void upper(const double *in, double *out, const int *table) {
  __shared__ double s[64];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[t] = in[g];
  __syncthreads();
  for (int d = 32; d > 0; d /= 2) {
    int other = t ^ d;
    const int weight = table[t];
    if (other < t) {
      double a = s[t] + weight, b = s[other];
      s[t] = a - b;
      s[other] = a + b;
    }
    __syncthreads();
  }
  out[g] = s[t];
}

// The pair is asked for first, in one condition: compilers are told what they may
// assume.
// TEXT-LABEL: {{^    |void }}{{oneConditio}}n_rc(
// TEXT: __builtin_assume(
// TEXT-LABEL: void {{oneConditio}}n_rc_launch(
// CHECK-DAG: rewrote 'oneCondition' {{.*}}; 's' owned by a warp
__global__ void oneCondition(const unsigned *in, unsigned *out) {
  __shared__ unsigned s[128];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = in[g];
  __syncthreads();
  for (int k = 2; k <= 128; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      int p = t ^ j;
      if (p > t && (t & k) == 0 && s[t] > s[p]) {
        unsigned v = s[t];
        s[t] = s[p];
        s[p] = v;
      }
      if ((t < p) && (t & k) != 0 && s[t] < s[p]) {
        unsigned v = s[t];
        s[t] = s[p];
        s[p] = v;
      }
      __syncthreads();
    }
  out[g] = s[t];
}

// Three slots.
// TEXT-LABEL: {{^    |void }}{{thre}}e_rc(
// TEXT: rc_run
// TEXT-LABEL: void {{thre}}e_rc_launch(
// CHECK-DAG: rewrote 'three' {{.*}}; 's' owned by a warp
__global__ void three(const short *in, short *out) {
  __shared__ short s[96];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 96 + t];
  __syncthreads();
  for (int d = 16; d > 0; d /= 2) {
    int p = t ^ d;
    if (p > t) {
      short v = s[t];
      s[t] = s[p] + v;
      s[p] -= v;
    }
    __syncthreads();
  }
  out[blockIdx.x * 96 + t] = s[t];
}

// What is a thread's own is not its partner's: a value kept over a barrier, a
// store to memory.
// TEXT-LABEL: {{^    |void }}{{kep}}t_rc(
// TEXT-NOT: {{rc_}}run
// TEXT: {{rewritte}}n(
// TEXT-LABEL: void {{kep}}t_rc_launch(
// CHECK-DAG: rewrote 'kept' {{.*}}; 's' owned by a warp
__global__ void kept(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  int mine = in[g], swaps = 0;
  s[t] = mine;
  __syncthreads();
  for (int d = 32; d > 0; d /= 2) {
    int p = t ^ d;
    if (p > t && s[t] > s[p] + mine) {
      int v = s[t];
      s[t] = s[p];
      s[p] = v;
      ++swaps;
    }
    __syncthreads();
  }
  out[g] = s[t] + swaps;
}
// TEXT-LABEL: {{^    |void }}{{store}}s_rc(
// TEXT-NOT: {{rc_}}run
// TEXT: {{rewritte}}n(
// TEXT-LABEL: void {{store}}s_rc_launch(
// CHECK-DAG: rewrote 'stores' {{.*}}; 's' owned by a warp
__global__ void stores(const int *in, int *out, int *log) {
  __shared__ int s[64];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[t] = in[g];
  __syncthreads();
  for (int d = 32; d > 0; d /= 2) {
    int p = t ^ d;
    if (p > t) {
      if (s[t] > s[p]) {
        int v = s[t];
        s[t] = s[p];
        s[p] = v;
      }
      log[g] = d;
    }
    __syncthreads();
  }
  out[g] = s[t];
}
// Both threads of a pair run, for different elements in different rounds.
// TEXT-LABEL: {{^    |void }}{{bot}}h_rc(
// TEXT-NOT: {{rc_}}run
// TEXT-LABEL: void {{bot}}h_rc_launch(
// CHECK-DAG: rewrote 'both' {{.*}}; 's' owned by a warp
__global__ void both(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[t] = in[g];
  __syncthreads();
  for (int d = 32; d > 0; d /= 2) {
    int p = t ^ d;
    if (d > 4 ? p > t : p < t)
      s[p] += 3 * s[t];
    __syncthreads();
  }
  out[g] = s[t];
}

int main() {
  const int n = 6144;
  Buffer<float> F(randoms<float>(n)), G(n);
  Buffer<int> I(randoms<int>(n)), J(n), K(n);
  Buffer<double> D(randoms<double>(n)), E(n);
  Buffer<short> S(randoms<short>(n)), T(n);
  keys<<<n / 256, 256>>>(I.Data, J.Data, 0);
  J.show("keys");
  keys<<<n / 256, 256>>>(I.Data, J.Data, 1);
  J.show("keys");
  payload<<<n / 128, 128>>>(F.Data, G.Data, J.Data, 1);
  G.show("payload");
  J.show("payload");
  payload<<<n / 128, 128>>>(F.Data, G.Data, J.Data, 0);
  G.show("payload");
  upper<<<n / 64, 64>>>(D.Data, E.Data, I.Data);
  E.show("upper");
  oneCondition<<<n / 128, 128>>>((unsigned *)I.Data, (unsigned *)J.Data);
  J.show("oneCondition");
  three<<<n / 96, 96>>>(S.Data, T.Data);
  T.show("three");
  kept<<<n / 64, 64>>>(I.Data, J.Data);
  J.show("kept");
  stores<<<n / 64, 64>>>(I.Data, J.Data, K.Data);
  J.show("stores");
  K.show("stores");
  both<<<n / 64, 64>>>(I.Data, J.Data);
  J.show("both");
}
