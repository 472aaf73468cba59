// Hints about registers: the kernel as it is, told of its launches' block. Who said
// something about registers himself, or has launches of several blocks or of blocks
// that nobody knows, is left alone. (When nothing is done at all: registers-asked.cu.)
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -q --list --only=registers --candidate=0 --self-check=quick --cuda-path=%cuda --arch=sm_90 -o %t.cu > %t.list
// RUN: FileCheck %s < %t.list
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: %if slow %{ %nvcc -ptx %t.cu -o %t.ptx %}
// RUN: rcache-rewrite %s --only=registers --kernel=plain --candidate=0 --self-check=quick --cuda-path=%cuda --arch=sm_90 -o %t.2.cu 2>&1 | FileCheck --check-prefix=NOTE %s
// Each is launched in its own block, and the original in others.
// RUN: rcache-check %t.cu --cuda-path=%cuda --kernel=plain --arg=n=3 --trials=40 2>&1 | FileCheck --check-prefix=EXECUTED %s
// RUN: rcache-check %t.cu --cuda-path=%cuda --kernel=plane --arg=n=3 --trials=40 2>&1 | FileCheck --check-prefix=EXECUTED %s
//
// CHECK: rewritten plain; launch bounds of 256 threads;
// CHECK: declined bounded; kernel-attribute ('__launch_bounds__(256, 2)' says what registers there are)
// CHECK: declined limited; kernel-attribute ('__maxnreg__' says what registers there are)
// CHECK: declined twoBlocks; block-shape (the launches do not tell one block of threads)
// CHECK: declined anyBlock; block-shape (the launches do not tell one block of threads)
// CHECK: declined elsewhere; no-launch
// CHECK: declined hidden; block-shape (a launch in parts of the file that a device-side parse leaves out: line
// CHECK: rewritten light; launch bounds of 256 threads;
// CHECK: rewritten dynamic: s; launch bounds of 256 threads;
// CHECK: declined counted; unsupported-statement (static variable 'calls')
// CHECK: rewritten itself; launch bounds of 256 threads;
// CHECK: rewritten tmpl<1>; launch bounds of 256 threads;
// CHECK: rewritten tmpl<2>; launch bounds of 128 threads;
// CHECK: rewritten (anonymous namespace)::anon;
// CHECK: rewritten plane;
// CHECK: declined never; not-instantiated
// TEXT: {{^ *static __global__ void.*}} __launch_bounds__(256)
// TEXT-NEXT: {{^ +}}plain_rc(const float *in, float *out, int n) {
// TEXT-NEXT: // plain as it is, in blocks of 256 threads.
// TEXT-NEXT: work(in, out, n);
// TEXT: (rc_block.x == 256) && (rc_block.y == 1) && (rc_block.z == 1)
// TEXT: (void *)&itself
// TEXT: plane_rc(
// TEXT: (rc_block.x == 32) && (rc_block.y == 8) && (rc_block.z == 1)
// NOTE: rewrote 'plain' (1 launch): launch bounds of 256 threads
// NOTE: note: {{[0-9]+}} registers a thread (ptxas), predicted speed-up
// NOTE: note: the original: {{[0-9]+}} registers, {{[0-9]+}} bytes of stack
// NOTE: note: executed before it was written:
// EXECUTED: equivalent: {{.*}} launches compared bit for bit, {{[1-9][0-9]*}} of them by a rewritten kernel
__device__ void work(const float *in, float *out, int n) {
  float v[4];
#pragma unroll
  for (int i = 0; i < 4; ++i)
    v[i] = in[i * 256 + threadIdx.x];
  for (int r = 0; r < n; ++r) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      v[i] = fmaf(v[i], v[(i + 1) % 4], v[(i * 3 + 1) % 4]);
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
    out[i * 256 + threadIdx.x] = v[i];
}
__global__ void plain(const float *in, float *out, int n) { work(in, out, n); }
__global__ void __launch_bounds__(256, 2) bounded(const float *in, float *out, int n) { work(in, out, n); }
__global__ void __maxnreg__(64) limited(const float *in, float *out, int n) { work(in, out, n); }
__global__ void twoBlocks(const float *in, float *out, int n) { work(in, out, n); }
__global__ void anyBlock(const float *in, float *out, int n) { work(in, out, n); }
__global__ void elsewhere(const float *in, float *out, int n) { work(in, out, n); }
__global__ void hidden(const float *in, float *out, int n) { work(in, out, n); }
__global__ void light(const float *in, float *out, int n) { out[threadIdx.x] = in[threadIdx.x] + n; }
__global__ void dynamic(const float *in, float *out, int n) { extern __shared__ float s[]; s[threadIdx.x] = n; work(in, out, n); out[(blockIdx.x + 4) * 256 + threadIdx.x] = s[threadIdx.x]; }
__global__ void counted(const float *in, float *out, int n) { static __device__ int calls; atomicAdd(&calls, 1); work(in, out, n); if (n < 0) out[0] = calls; }
__global__ void itself(const float *in, float *out, int n) { work(in, out, n); if (in == out) out[n] = (void *)&itself == out; }
template <int N> __global__ void tmpl(const float *in, float *out, int n) { n += N; work(in, out, n); }
namespace { __global__ void anon(const float *in, float *out, int n) { work(in, out, n); } }
__global__ void plane(const float *in, float *out, int n) { work(in, out, n); }
template <int N> __global__ void never(const float *in, float *out, int n) { n += N; work(in, out, n); }
void run(const float *in, float *out, int n, int b) {
  plain<<<80, 256>>>(in, out, n);
  bounded<<<80, 256>>>(in, out, n);
  limited<<<80, 256>>>(in, out, n);
  twoBlocks<<<80, 256>>>(in, out, n); twoBlocks<<<80, 128>>>(in, out, n);
  anyBlock<<<80, b>>>(in, out, n);
  hidden<<<80, 256>>>(in, out, n);
#ifndef __CUDA_ARCH__
  hidden<<<80, 128>>>(in, out, n);
#endif
  light<<<80, 256>>>(in, out, n);
  dynamic<<<80, 256, 1024>>>(in, out, n);
  counted<<<80, 256>>>(in, out, n);
  itself<<<80, 256>>>(in, out, n);
  tmpl<1><<<80, 256>>>(in, out, n); tmpl<2><<<80, 128>>>(in, out, n);
  anon<<<80, 256>>>(in, out, n);
  plane<<<80, dim3(32, 8)>>>(in, out, n);
}
