// Hints about registers are for those who ask for them: nothing is done by default, nor
// for what registers do not limit, nor where nvcc may not be asked.
//
// REQUIRES: cuda-toolkit, rcache-check
// What is predicted decides; a number that is none is told.
// RUN: rcache-rewrite %s -q --list --only=registers --kernel=light --self-check=quick --cuda-path=%cuda --arch=sm_90 -o %t.2.cu | FileCheck --check-prefix=LIGHT %s
// RUN: rcache-rewrite %s -q --list --only=registers --kernel=light --candidate=99 --self-check=quick --cuda-path=%cuda --arch=sm_90 -o %t.2.cu | FileCheck --check-prefix=NUMBER %s
// Nothing is done by default, nor where programs may not be run.
// RUN: rcache-rewrite %s -q --list --self-check=quick --cuda-path=%cuda --arch=sm_90 | FileCheck --check-prefix=DEFAULT --implicit-check-not='launch bounds' %s
// RUN: rcache-rewrite %s -q --list --only=registers --self-check=off --cuda-path=%cuda --arch=sm_90 | FileCheck --check-prefix=OFF --implicit-check-not=rewritten %s
// Also where it is one technique of several: what moves data comes first.
// RUN: rcache-rewrite %s -q --list --only=staging,private,registers --kernel=plain --candidate=0 --self-check=quick --cuda-path=%cuda --arch=sm_90 | FileCheck %s --check-prefix=ALL
//
// LIGHT: declined light; no-gain (registers do not limit it: {{.*}}64 of 64 warps
// NUMBER: declined light; no-candidate (--candidate=99 of {{[0-9]+}})
// DEFAULT: not-shared plain; no-shared;
// OFF: declined plain; no-gain (hints about registers need nvcc
// ALL: rewritten plain; launch bounds of 256 threads
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
__global__ void light(const float *in, float *out, int n) { out[threadIdx.x] = in[threadIdx.x] + n; }
void run(const float *in, float *out, int n) {
  plain<<<80, 256>>>(in, out, n);
  light<<<80, 256>>>(in, out, n);
}
