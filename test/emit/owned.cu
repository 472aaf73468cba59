// Arrays that a warp owns: trees as people write them, scans, sorts, iterated
// stencils. What is not of a form that is known to be right stays as it was.
//
// RUN: rcache-rewrite %s -o %t.cu -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: %if slow %{ %nvcc -ptx %t.cu -o %t.ptx -I%S/Inputs %}
// RUN: %if rcache-check %{ rcache-check diff %s %t.cu -- -I%S/Inputs %}
//
// What is damaged is found by the plan's verifier.
// RUN: rcache-rewrite %s --force --kernel=tree --mutate=lane-off-by-one -o %t.bad.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=LANE %s
// LANE: the plan verifier found: s[t + d] at line {{[0-9]+}}, thread 0: gets element 129 for 128
// RUN: rcache-rewrite %s --force --kernel=softmax --mutate=wrong-register -o %t.bad.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=OWN %s
// OWN: the plan verifier found: {{.*}}: element {{[0-9]+}} is another's
//
// REQUIRES: cuda-toolkit
#include "program.h"

// CHECK-DAG: rewrote 'tree' {{.*}}; 's' owned by a warp; per output 0.62 shuffles
__global__ void tree(const float *in, float *out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t] = g < n ? in[g] : 0.0f;
  __syncthreads();
  for (int d = 128; d > 0; d >>= 1) {
    if (t < d)
      s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = s[0];
}

// CHECK-DAG: rewrote 'modulo' {{.*}}; 's' owned by a warp
__global__ void modulo(const int *in, int *out) {
  __shared__ int s[128];
  unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  s[tid] = in[i];
  __syncthreads();
  for (unsigned k = 1; k < 128; k *= 2) {
    if (tid % (2 * k) == 0)
      s[tid] += s[tid + k];
    __syncthreads();
  }
  if (tid == 0)
    out[blockIdx.x] = s[0];
}

// A ladder of a template, dynamic shared memory, two elements a thread.
// CHECK-DAG: rewrote 'ladder<128>' {{.*}}; 'sd' owned by a warp; per output 1.25 shuffles
// CHECK-DAG: rewrote 'ladder<256>' {{.*}}; 'sd' owned by a warp; per output 0.62 shuffles
template <int BS>
__global__ void ladder(const float *in, float *out, unsigned n) {
  extern __shared__ float sd[];
  unsigned tid = threadIdx.x, i = blockIdx.x * (BS * 2) + tid;
  sd[tid] = (i < n ? in[i] : 0.f) + (i + BS < n ? in[i + BS] : 0.f);
  __syncthreads();
  if (BS >= 256) {
    if (tid < 128)
      sd[tid] += sd[tid + 128];
    __syncthreads();
  }
  if (BS >= 128) {
    if (tid < 64)
      sd[tid] += sd[tid + 64];
    __syncthreads();
  }
  if (tid < 32)
    sd[tid] += sd[tid + 32];
  __syncthreads();
  if (tid < 16)
    sd[tid] += sd[tid + 16];
  __syncthreads();
  if (tid < 8)
    sd[tid] += sd[tid + 8];
  __syncthreads();
  if (tid < 4)
    sd[tid] += sd[tid + 4];
  __syncthreads();
  if (tid < 2)
    sd[tid] += sd[tid + 2];
  __syncthreads();
  if (tid < 1)
    sd[tid] += sd[tid + 1];
  __syncthreads();
  if (tid == 0)
    out[blockIdx.x] = sd[0];
}

// A sum that is kept in a register as well.
// CHECK-DAG: rewrote 'mySum' {{.*}}; 'sdata' owned by a warp
__global__ void mySum(const float *in, float *out, unsigned n) {
  __shared__ float sdata[256];
  unsigned tid = threadIdx.x, i = blockIdx.x * 512 + tid;
  float mine = i < n ? in[i] : 0;
  if (i + blockDim.x < n)
    mine += in[i + blockDim.x];
  sdata[tid] = mine;
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s)
      sdata[tid] = mine = mine + sdata[tid + s];
    __syncthreads();
  }
  if (tid == 0)
    out[blockIdx.x] = mine;
}

// Two trees on one array, results for all threads.
// CHECK-DAG: rewrote 'softmax' {{.*}}; 'm' owned by a warp
__global__ void softmax(const float *in, float *out) {
  __shared__ float m[256];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  float v = in[g];
  m[t] = v;
  __syncthreads();
  for (int d = 128; d; d >>= 1) {
    if (t < d)
      m[t] = fmaxf(m[t], m[t + d]);
    __syncthreads();
  }
  float top = m[0];
  __syncthreads();
  m[t] = v - top;
  __syncthreads();
  for (int d = 128; d; d >>= 1) {
    if (t < d)
      m[t] += m[t + d];
    __syncthreads();
  }
  out[g] = (v - top) / m[0];
}

// CHECK-DAG: rewrote 'scan' {{.*}}; 's' owned by a warp; per output 5.00 shuffles
__global__ void scan(const int *in, int *out) {
  __shared__ int s[256];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t] = in[g];
  __syncthreads();
  for (int d = 1; d < 256; d <<= 1) {
    int v = 0;
    if (t >= d)
      v = s[t - d];
    __syncthreads();
    s[t] += v;
    __syncthreads();
  }
  out[g] = s[t];
}

// CHECK-DAG: rewrote 'least' {{.*}}; 'v' owned by a warp; 'at' owned by a warp
__global__ void least(const float *in, float *value, int *place) {
  __shared__ float v[128];
  __shared__ int at[128];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  v[t] = in[g];
  at[t] = g;
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (t < d && v[t + d] < v[t]) {
      v[t] = v[t + d];
      at[t] = at[t + d];
    }
    __syncthreads();
  }
  if (t == 0) {
    value[blockIdx.x] = v[0];
    place[blockIdx.x] = at[0];
  }
}

// CHECK-DAG: rewrote 'oddEven' {{.*}}; 's' owned by a warp
__global__ void oddEven(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 64 + t];
  __syncthreads();
  for (int r = 0; r < 64; ++r) {
    int v = s[t];
    if (t % 2 == r % 2) {
      if (t + 1 < 64)
        v = min(s[t], s[t + 1]);
    } else if (t > 0)
      v = max(s[t], s[t - 1]);
    __syncthreads();
    s[t] = v;
    __syncthreads();
  }
  out[blockIdx.x * 64 + t] = s[t];
}

// What is staged is a product: it stays rounded. Three slots.
// CHECK-DAG: rewrote 'dot' {{.*}}; 's' owned by a warp; 'total' owned by a warp
__global__ void dot(const double *in, const double *w, double *out) {
  __shared__ double s[96];
  __shared__ double total;
  int t = threadIdx.x, g = blockIdx.x * 96 + t;
  s[t] = in[g] * w[g];
  __syncthreads();
  for (int d = 48; d >= 3; d /= 2) {
    if (t < d)
      s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0)
    total = s[0] + s[1] + s[2];
  __syncthreads();
  out[g] = in[g] + total;
}

// Two elements a thread, the first step among its own.
// CHECK-DAG: rewrote 'pairs' {{.*}}; 's' owned by a warp
__global__ void pairs(const float *in, float *out, int n) {
  __shared__ float s[256];
  unsigned t = threadIdx.x, start = 2 * blockIdx.x * 128;
  s[t] = start + t < n ? in[start + t] : 0.0f;
  s[128 + t] = start + 128 + t < n ? in[start + 128 + t] : 0.0f;
  for (unsigned d = 128; d > 0; d /= 2) {
    __syncthreads();
    if (t < d)
      s[t] += s[t + d];
  }
  if (t == 0)
    out[blockIdx.x] = s[0];
}

// Products of what was exchanged are added up: which is fused hangs on loads.
// CHECK-DAG: 'smooth' left as it is
__global__ void smooth(const float *in, float *out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t] = g < n ? in[g] : 0;
  __syncthreads();
  for (int k = 0; k < 10; ++k) {
    float v = s[t];
    if (t > 0 && t < 255)
      v = 0.25f * s[t - 1] + 0.5f * s[t] + 0.25f * s[t + 1];
    __syncthreads();
    s[t] = v;
    __syncthreads();
  }
  if (g < n)
    out[g] = s[t];
}

// A product in place, of floats: rounded in shared memory.
// CHECK-DAG: 'powers' left as it is
__global__ void powers(const float *in, float *out) {
  __shared__ float s[64];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[t] = in[g];
  __syncthreads();
  for (int d = 32; d > 0; d /= 2) {
    if (t < d)
      s[t] *= s[t + d];
    __syncthreads();
  }
  out[g] = s[0] + 1.0f;
}

// A product that the thread reads back before the barrier: compilers forward it,
// and fuse it.
// CHECK-DAG: 'readBack' left as it is
__global__ void readBack(const float *in, const float *w, float *out) {
  __shared__ float s[64];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  float a = in[g], b = w[g];
  s[t] = a * b;
  s[t] += b;
  __syncthreads();
  for (int d = 32; d > 0; d /= 2) {
    if (t < d)
      s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = s[0];
}

// What is only copied stays what it is, the bits of a NaN included.
// CHECK-DAG: rewrote 'copied' {{.*}}; 's' owned by a warp
__global__ void copied(const float *in, float *out) {
  __shared__ float s[64];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[t] = t % 5 ? in[g] : __int_as_float(0x7f800001 + t);
  __syncthreads();
  for (int d = 32; d > 0; d /= 2) {
    float v = t < d ? s[t + d] : s[t];
    __syncthreads();
    s[t] = v;
    __syncthreads();
  }
  out[g] = s[t];
}

// Thread 0 reads what it has just written.
// CHECK-DAG: rewrote 'first' {{.*}}; 's' owned by a warp
__global__ void first(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[t] = in[g];
  __syncthreads();
  for (int d = 32; d > 0; d /= 2) {
    if (t < d)
      s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) {
    s[0] += 5;
    out[blockIdx.x] = s[0];
  }
}

// Other threads' elements: written, read at a distance that data says.
// CHECK-DAG: 'scattered' left as it is
__global__ void scattered(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[t * 5 % 64] = in[g];
  __syncthreads();
  for (int d = 32; d > 0; d /= 2) {
    if (t < d)
      s[t] += s[t + d];
    __syncthreads();
  }
  out[g] = s[0];
}
// CHECK-DAG: 'far' left as it is
__global__ void far(const int *in, int *out, int n) {
  __shared__ int s[64];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[t] = in[g];
  __syncthreads();
  for (int k = 0; k < 3; ++k) {
    int v = t + n < 64 ? s[t + n] : 0;
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
  Buffer<double> D(randoms<double>(n)), W(randoms<double>(n)), E(n);
  tree<<<n / 256, 256>>>(F.Data, G.Data, n - 77);
  G.show("tree");
  modulo<<<n / 128, 128>>>(I.Data, J.Data);
  J.show("modulo");
  ladder<128><<<n / 256, 128, 128 * sizeof(float)>>>(F.Data, G.Data, n - 5);
  ladder<256><<<n / 512, 256, 256 * sizeof(float)>>>(F.Data, G.Data + 64, n - 5);
  G.show("ladder");
  mySum<<<n / 512, 256>>>(F.Data, G.Data, n - 300);
  G.show("mySum");
  softmax<<<n / 256, 256>>>(F.Data, G.Data);
  G.show("softmax");
  scan<<<n / 256, 256>>>(I.Data, J.Data);
  J.show("scan");
  least<<<n / 128, 128>>>(F.Data, G.Data, J.Data);
  G.show("least");
  J.show("least");
  oddEven<<<n / 64, 64>>>(I.Data, J.Data);
  J.show("oddEven");
  dot<<<n / 96, 96>>>(D.Data, W.Data, E.Data);
  E.show("dot");
  pairs<<<n / 256, 128>>>(F.Data, G.Data, n - 100);
  G.show("pairs");
  smooth<<<n / 256, 256>>>(F.Data, G.Data, n - 100);
  G.show("smooth");
  powers<<<n / 64, 64>>>(F.Data, G.Data);
  G.show("powers");
  readBack<<<n / 64, 64>>>(F.Data, F.Data, G.Data);
  G.show("readBack");
  copied<<<n / 64, 64>>>(F.Data, G.Data);
  G.show("copied");
  first<<<n / 64, 64>>>(I.Data, J.Data);
  J.show("first");
  scattered<<<n / 64, 64>>>(I.Data, J.Data);
  J.show("scattered");
  far<<<n / 64, 64>>>(I.Data, J.Data, int(I.Size % 9) + 1); // (7, which no text tells)
  J.show("far");
}
