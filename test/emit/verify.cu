// A rewritten file compiled with -DRCACHE_VERIFY runs both forms of the kernel
// at each launch, compares them and goes on with the original's results.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda 2> %t.remarks
// RUN: rcache-check run %s > %t.original
// RUN: rcache-check run %t.cu -- -DRCACHE_VERIFY > %t.out 2> %t.err
// RUN: diff %t.original %t.out
// RUN: FileCheck --check-prefix=GOOD %s < %t.err
// GOOD-NOT: rcache:
// GOOD: rcache: verified 11 launches: 0 differ, 0 skipped
// GOOD-NOT: rcache:
//
// Without the macro nothing is verified and nothing is said.
// RUN: rcache-check run %t.cu > %t.plain 2> %t.plain.err
// RUN: diff %t.original %t.plain
// RUN: count 0 < %t.plain.err
//
// The header instead of the embedded text.
// RUN: %if slow %{ rcache-rewrite %s --force -o %t.include.cu --runtime=include --cuda-path=%cuda 2> /dev/null %}
// RUN: %if slow %{ rcache-check run %t.include.cu -- -DRCACHE_VERIFY -I%src/include 2>&1 >/dev/null | FileCheck --check-prefix=GOOD %s %}
//
// A wrong rewritten kernel: reported, and the program's output is the original's.
// RUN: sed -e 's/[a-z_]*_out_v\[rc_s\] = /&1.0f + /' -e '/^ *marked_rc[^ ]*(\|^static __global__ void .*marked_rc[^ ]*(/,/^}/s/total, 1u/total, 2u/' %t.cu > %t.wrong.cu
// RUN: not diff %t.cu %t.wrong.cu > %t.diff
// RUN: rcache-check run %t.wrong.cu -- -DRCACHE_VERIFY > %t.out 2> %t.err
// RUN: diff %t.original %t.out
// RUN: FileCheck --check-prefix=WRONG %s < %t.err
// WRONG: rcache: blur<<<(4,1,1), (128,1,1), 0>>>: argument 'out', element 0 (byte {{[0-3]}}): original 1.5 0x3fc00000, rewritten 2.5 0x40200000; {{[0-9]+}} bytes differ
// WRONG: rcache: marked<<<(4,1,1), (128,1,1), 0>>>: argument 'total', element 0 (byte 0): original 509 0x000001fd, rewritten 1018 0x000003fa; 2 bytes differ
// WRONG: rcache: verified 11 launches: {{[1-9][0-9]*}} differ, 0 skipped
//
// RUN: %nvcc -std=c++14 -DRCACHE_VERIFY -Xcompiler -Wall,-Wextra,-Werror -c %t.cu -o %t.o
// RUN: %if slow %{ %nvcc -std=c++17 -DRCACHE_VERIFY -Xcompiler -Wall,-Wextra,-Werror -I%src/include -c %t.include.cu -o %t.o %}
// RUN: %clang-cuda -std=c++14 -DRCACHE_VERIFY -Wall -Werror -c %t.cu -o %t.o2
#include <cstdio>

namespace {
__device__ unsigned total;
}
namespace seen {
__device__ float last[512];
}
__device__ void remember(int g, float v) { seen::last[g] = v; }

__global__ void blur(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[130];
  int g = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x + 1] = g < n ? in[g] : 0.f;
  if (threadIdx.x < 2) {
    int h = threadIdx.x ? g + 127 : g - 1;
    s[threadIdx.x * 129] = h >= 0 && h < n ? in[h] : 0.f;
  }
  __syncthreads();
  if (g < n)
    out[g] = s[threadIdx.x] + s[threadIdx.x + 1] + s[threadIdx.x + 2];
}

// Reads what it writes: running it twice must not show.
__global__ void accumulate(const float *in, float *sum, int n) {
  __shared__ float s[130];
  int g = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x + 1] = g < n ? in[g] : 0.f;
  if (threadIdx.x < 2) {
    int h = threadIdx.x ? g + 127 : g - 1;
    s[threadIdx.x * 129] = h >= 0 && h < n ? in[h] : 0.f;
  }
  __syncthreads();
  if (g < n)
    sum[g] += s[threadIdx.x] - s[threadIdx.x + 2];
}

struct Image {
  int width;
  float *pixels;
};
__global__ void marked(const float *in, Image to) {
  __shared__ float s[130];
  int g = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x + 1] = g < to.width ? in[g] : 0.f;
  if (threadIdx.x < 2) {
    int h = threadIdx.x ? g + 127 : g - 1;
    s[threadIdx.x * 129] = h >= 0 && h < to.width ? in[h] : 0.f;
  }
  __syncthreads();
  if (g < to.width) {
    float v = s[threadIdx.x] * s[threadIdx.x + 2];
    to.pixels[g] += v;
    remember(g, v);
    atomicAdd(&total, 1u);
  }
}

template <class T> void print(const char *what, const T *device, int n) {
  T h[512];
  cudaMemcpy(h, device, n * sizeof(T), cudaMemcpyDeviceToHost);
  double sum = 0;
  for (int i = 0; i < n; ++i)
    sum += (i + 1) * (double)h[i];
  printf("%s %.17g\n", what, sum);
}

int main() {
  const int n = 509;
  float h[512], *in, *out, *managed, *pinned;
  for (int i = 0; i < 512; ++i)
    h[i] = i * i % 37 + 0.75f;
  h[0] = 0.75f, h[1] = 0.75f;
  cudaMalloc(&in, sizeof(h));
  cudaMalloc(&out, 2 * sizeof(h));
  cudaMallocManaged(&managed, sizeof(h));
  cudaMallocHost(&pinned, sizeof(h));
  cudaMemcpy(in, h, sizeof(h), cudaMemcpyHostToDevice);
  cudaMemset(out, 0, 2 * sizeof(h));
  for (int i = 0; i < 512; ++i)
    managed[i] = pinned[i] = 1;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  blur<<<4, 128, 0, stream>>>(in, out + 3, n);
  print("blur", out, n + 3);
  blur<<<4, 128, 0, stream>>>(in, managed, n);
  blur<<<4, 128>>>(in, pinned, n);
  accumulate<<<4, 128>>>(in, out, n);
  accumulate<<<4, 128>>>(in, out, n);
  accumulate<<<4, 128>>>(in, managed, n);
  accumulate<<<4, 128, 0, stream>>>(in, pinned, n);
  cudaDeviceSynchronize();
  print("accumulate", out, n);
  print("managed", managed, n);
  print("pinned", pinned, n);
  for (int i = 0; i < 4; ++i)
    marked<<<4, 128>>>(in, Image{n, out + 1});
  float *last;
  unsigned count;
  cudaGetSymbolAddress((void **)&last, seen::last);
  print("last", last, n);
  print("image", out, n + 1);
  cudaMemcpyFromSymbol(&count, total, sizeof(count));
  printf("total %u, %s\n", count, cudaGetErrorString(cudaGetLastError()));
}
