// Macros with the names of words that no new text can do without: of the language, and of what a
// vector is made of. (With arguments, `y(i)`, they are no components: emit/letter-macros.)
//
// REQUIRES: cuda-toolkit
// RUN: rcache-rewrite %s -o %t.cu -q --list --force --self-check=off --cuda-path=%cuda | FileCheck %s
// RUN: rcache-rewrite %s -o %t.cu -q --list --force --self-check=off --cuda-path=%cuda -- -DCOMPONENT | FileCheck --check-prefix=COMPONENT %s
// RUN: rcache-rewrite %s -o %t.cu -q --list --force --self-check=off --cuda-path=%cuda -- -DNEITHER | FileCheck --check-prefix=NEITHER %s
// CHECK: declined{{.*}}smooth{{.*}}name-changes
// COMPONENT: declined{{.*}}smooth{{.*}}name-changes
// NEITHER: rewritten{{.*}}smooth
#if defined(COMPONENT)
#define y 1
#elif defined(NEITHER)
#define other 1
#undef other
#define y(i) i
#else
#define asm __asm__
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

int main(int argc, char **argv) {
  const int n = 1000 * argc;
  float *a, *b;
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, n * sizeof(float));
  smooth<<<(n + 127) / 128, 128>>>(a, b, n);
}
