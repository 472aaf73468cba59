// --list and the report say what every kernel takes of an SM, as ptxas does itself:
// also kernels without shared arrays, instantiations, and names that nvcc mangles
// otherwise than clang. What has no code has no figures.
//
// REQUIRES: cuda-toolkit
// RUN: rcache-rewrite %s -q --list --self-check=quick --cuda-path=%cuda --arch=sm_90 --report=%t.json > %t.list
// RUN: FileCheck %s < %t.list
// RUN: %nvcc -cubin -Xptxas -v %s -o %t.cubin 2> %t.nvcc
// RUN: %python %S/Inputs/same_registers.py %t.json %t.nvcc plain=_Z5plainP 'twice<float>'=5twiceIfE 'twice<double>'=5twiceIdE 'q::inner'=_ZN1q5inner '(anonymous namespace)::unseen'=6unseen 'q::(anonymous namespace)::r::deeper'=6deeper linked=_Z6linked cname=cname tiled=5tiled asked=5asked plane=5plane
// RUN: %python %S/../output/Inputs/validate.py %src/docs/report.schema.json %t.json
// With -rdc=true names of static kernels have the file's in front.
// RUN: rcache-rewrite %s -q --list --self-check=quick --cuda-path=%cuda --arch=sm_90 -- -rdc=true | FileCheck %s
// Programs may not be run: no figures, and nothing else is different.
// RUN: rcache-rewrite %s -q --list --self-check=off --cuda-path=%cuda | FileCheck --check-prefix=OFF --implicit-check-not=registers, %s
// nvcc does not compile it: that is said, and the list is there.
// RUN: rcache-rewrite %s --list --self-check=quick --cuda-path=%cuda -- -DBROKEN 2>&1 | FileCheck --check-prefix=BROKEN %s
//
// CHECK: not-shared plain; no-shared; {{[0-9]+}} registers, 0 bytes of stack, 0 bytes spilled, 64 of 64 warps (100%; threads)
// CHECK: not-shared twice<float>; no-shared; {{[0-9]+}} registers
// CHECK: not-shared twice<double>; no-shared; {{[0-9]+}} registers
// CHECK: declined never; not-instantiated{{$}}
// CHECK: not-shared q::inner{{.*}} registers
// CHECK: (anonymous namespace)::unseen{{.*}} registers
// CHECK: q::(anonymous namespace)::r::deeper{{.*}} registers
// CHECK: linked{{.*}} registers
// CHECK: cname{{.*}} 256 bytes of stack
// CHECK: tiled{{.*}} registers{{.*}}; without dynamic shared memory)
// CHECK: asked{{.*}} 10 of 64 warps (16%; shared memory)
// CHECK: plane{{.*}} registers{{.*}}; in blocks of 256 threads)
// OFF: not-shared plain; no-shared{{$}}
// OFF: plane
// BROKEN: warning: registers of the kernels in '{{.*}}' are not known: '{{.*}}nvcc' failed
// BROKEN: not-shared plain; no-shared{{$}}
__global__ void plain(float *p) { p[threadIdx.x] += 1; }
template <typename T> __global__ void twice(T *p) { p[threadIdx.x] *= 2; }
template <typename T> __global__ void never(T *p) { p[threadIdx.x] *= 3; }
namespace q {
__global__ void inner(float *p) { p[threadIdx.x] += 2; }
} // namespace q
namespace {
__global__ void unseen(float *p) { p[threadIdx.x] += 3; }
} // namespace
namespace q {
namespace {
namespace r {
template <int N> struct Tag {};
__global__ void deeper(float *p, Tag<3>) { p[threadIdx.x] += 4; }
} // namespace r
} // namespace
} // namespace q
static __global__ void linked(float *p) { p[threadIdx.x] += 5; }
extern "C" __global__ void cname(float *p, int i) {
  float v[64];
  for (int k = 0; k < i; ++k)
    v[k] = p[k * i];
  p[threadIdx.x] = v[v[0] > 0];
}
__global__ void tiled(float *p) {
  extern __shared__ float s[];
  s[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[blockIdx.x * 64 + 64 + threadIdx.x] = s[(int)p[threadIdx.x]];
}
__global__ void asked(float *p) {
  __shared__ float s[11000];
  for (int i = threadIdx.x; i < 11000; i += 64)
    s[i] = p[i];
  __syncthreads();
  p[threadIdx.x] = s[(int)p[threadIdx.x]];
}
__global__ void plane(float *p) { p[threadIdx.x] += 6; }
#if defined(BROKEN) && !defined(__clang__)
#error
#endif

void run(float *p, int blocks, int threads) {
  plain<<<blocks, 256>>>(p);
  twice<<<blocks, 128>>>(p);
  twice<<<blocks, 128>>>(reinterpret_cast<double *>(p));
  q::inner<<<blocks, dim3(16, 16)>>>(p);
  unseen<<<blocks, 64>>>(p);
  q::r::deeper<<<blocks, 64>>>(p, q::r::Tag<3>());
  linked<<<blocks, 64>>>(p);
  cname<<<blocks, 64>>>(p, blocks);
  tiled<<<blocks, 64, 64 * sizeof(float)>>>(p);
  asked<<<blocks, 64>>>(p);
  plane<<<blocks, threads>>>(p);
}
