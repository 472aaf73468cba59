// Macros with the names of words that the inserted text has: of the language, of what a vector
// is made of, of launch functions. They count where that text goes, also if they are undefined
// behind it. (With arguments, `y(i)`, they are no components: emit/letter-macros. Those that
// are elsewhere, or that no inserted text has: emit/macros-elsewhere.)
//
// REQUIRES: cuda-toolkit
// DEFINE: %{list} = rcache-rewrite %s -o %t.cu -q --list --force --self-check=off --cuda-path=%cuda --
// RUN: %{list} -DKEYWORD | FileCheck --check-prefix=KEYWORD %s
// RUN: %{list} -DKEYWORD -DBEHIND | FileCheck --check-prefix=KEYWORD %s
// RUN: %{list} -DOF_KERNEL -DBEHIND | FileCheck --check-prefix=OF_KERNEL %s
// RUN: %{list} -DCOMPONENT_Y | FileCheck --check-prefix=COMPONENT_Y %s
// RUN: %{list} -DCOMPONENT_Y -DBEHIND | FileCheck --check-prefix=COMPONENT_Y %s
// RUN: %{list} -DCOMPONENT_Z -DBEHIND | FileCheck --check-prefix=COMPONENT_Z %s
// RUN: %{list} -DSIZE -DBEHIND | FileCheck --check-prefix=SIZE %s
// RUN: %{list} -DMEMBER -DBEHIND | FileCheck --check-prefix=MEMBER %s
// RUN: %{list} -DTYPE | FileCheck --check-prefix=TYPE %s
// RUN: %{list} -DTYPE -DBEHIND | FileCheck --check-prefix=TYPE %s
// RUN: %{list} -DDECLARED | FileCheck --check-prefix=DECLARED %s
// RUN: %{list} -DREAD_TWICE | FileCheck --check-prefix=READ_TWICE %s
// RUN: %{list} -DVERIFY | FileCheck --check-prefix=VERIFY %s
// RUN: %{list} -DNEITHER | FileCheck --check-prefix=NEITHER %s
// KEYWORD: declined{{.*}}smooth{{.*}}name-changes (the macro 'inline')
// OF_KERNEL: declined{{.*}}smooth{{.*}}name-changes (the macro 'float')
// COMPONENT_Y: declined{{.*}}smooth{{.*}}name-changes (the macro 'y')
// COMPONENT_Z: declined{{.*}}smooth{{.*}}name-changes (the macro 'z')
// SIZE: declined{{.*}}smooth{{.*}}name-changes (the macro 'size_t')
// MEMBER: declined{{.*}}smooth{{.*}}name-changes (the macro 'save')
// clang's own header has a macro dim3 for some lines.
// TYPE: declined{{.*}}smooth{{.*}}name-changes (the macro 'dim3')
// DECLARED: declined{{.*}}smooth{{.*}}name-changes (the macro 'size_t')
// READ_TWICE: declined{{.*}}smooth{{.*}}name-changes (the macro 'cudaFree')
// VERIFY: declined{{.*}}smooth{{.*}}name-changes (the macro 'RCACHE_VERIFY')
// NEITHER: rewritten{{.*}}smooth
#ifdef DECLARED
#define size_t unsigned
#endif
__global__ void smooth(const float *in, float *out, int n);
#undef size_t
void early(const float *in, float *out, int n) { smooth<<<(n + 127) / 128, 128>>>(in, out, n); }
#if defined(KEYWORD)
#define inline __inline__
#elif defined(OF_KERNEL)
#define float double
#elif defined(COMPONENT_Y)
#define y 1
#elif defined(COMPONENT_Z)
#define z 1
#elif defined(SIZE)
#define size_t unsigned
#elif defined(MEMBER)
#define save() nothing
#elif defined(TYPE)
#define dim3 uint3
#elif defined(VERIFY)
const int InFrontOfIt = 1;
#define RCACHE_VERIFY
#elif defined(NEITHER)
#define other 1
#undef other
#define y(i) i
#endif

__global__ void smooth(const float *in, float *out, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  for (int l = t; l < 130; l += 128) {
    const int e = (int)(blockIdx.x * 128) + l - 1;
    s[l] = e >= 0 && e < n ? in[e] : 0.f;
  }
  __syncthreads();
  if (g < n)
    out[g] = s[t] + s[t + 1] + s[t + 2];
}

#ifdef BEHIND
#undef inline
#undef float
#undef y
#undef z
#undef size_t
#undef save
#undef dim3
#endif
#ifdef READ_TWICE
static int Freed = 0;
#define cudaFree(p) (++Freed, cudaFree(p))
#define LAUNCH(a, b, n, ...) do { smooth<<<(n + 127) / 128, 128>>>(a, b, n); __VA_ARGS__; } while (0)
#else
#define LAUNCH(a, b, n, ...) smooth<<<(n + 127) / 128, 128>>>(a, b, n)
#endif

int main(int argc, char **argv) {
  const int n = 1000 * argc;
  decltype(0.f + argc) *a, *b;
  cudaMalloc(&a, n * 8);
  cudaMalloc(&b, n * 8);
#ifdef OF_KERNEL
#define float double
  smooth<<<(n + 127) / 128, 128>>>((float *)a, (float *)b, n);
#else
  LAUNCH(a, b, n, cudaFree(b));
#endif
}
