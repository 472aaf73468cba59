// Threads that wait for what others write, in all ways to look at it: blocks that become
// one, or threads of them that do, would wait for themselves. Rounds that are counted, or
// depend on what others leave alone, wait for nobody.
// REQUIRES: cuda-toolkit
// RUN: rcache-rewrite %s -o /dev/null --force --cuda-path=%cuda -- -std=c++17 2>&1 | FileCheck %s --implicit-check-not="left as it is" --implicit-check-not=rewrote
#include <cuda/atomic>

__device__ void wait(const volatile int *f, int e) {
  while (*f != e) {
  }
}
__device__ void waitLonger(const volatile int *f, int e) {
again:
  if (*f != e)
    goto again;
}
__device__ int get(const volatile int *f) { return *f; }
/// Its rounds are counted; a tree of one warp is written so.
__device__ int sumOf(const volatile int *f, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i)
    sum += f[i];
  return sum;
}

#define KERNEL(name, ...)                                                                       \
  __global__ void name(const int *a, int *o, int *flag, volatile int *seen, int n, int e) {     \
    __shared__ int s[130];                                                                      \
    const int t = threadIdx.x, b = blockIdx.x, g = b * 128 + t;                                 \
    s[t + 1] = g < n ? a[g] : 0;                                                                \
    if (t == 0)                                                                                 \
      s[0] = g > 0 ? a[g - 1] : 0;                                                              \
    if (t == 127)                                                                               \
      s[129] = g + 1 < n ? a[g + 1] : 0;                                                        \
    __syncthreads();                                                                            \
    int r = s[t] * 3 + s[t + 1] - s[t + 2];                                                     \
    __VA_ARGS__                                                                                        \
    __syncthreads();                                                                            \
    if (g < n)                                                                                  \
      o[g] = r;                                                                                 \
    __syncthreads();                                                                            \
    if (t == 0)                                                                                 \
      flag[b] = e;                                                                              \
  }

// CHECK-DAG: 'read' left as it is: a loop waits for what other threads write{{.*}} [spin-wait]
KERNEL(read, if (t == 0 && b > 0) while (seen[b - 1] != e){})
// CHECK-DAG: 'compared' left as it is: {{.*}} [spin-wait]
KERNEL(compared, if (t == 0 && b > 0) while (atomicCAS(&flag[b - 1], e, e) != e){})
// CHECK-DAG: 'added' left as it is: {{.*}} [spin-wait]
KERNEL(added, if (t == 0 && b > 0) while (atomicAdd(flag + b - 1, 0) != e){})
// CHECK-DAG: 'cast' left as it is: {{.*}} [spin-wait]
KERNEL(cast, if (t == 0 && b > 0) while (((volatile int *)flag)[b - 1] != e){})
// CHECK-DAG: 'uncached' left as it is: {{.*}} [spin-wait]
KERNEL(uncached, const int *p = flag + b - 1; if (t == 0 && b > 0) while (__ldcv(p) != e){})
// CHECK-DAG: 'broken' left as it is: {{.*}} [spin-wait]
KERNEL(broken, if (t == 0 && b > 0) for (;;) { if (seen[b - 1] == e) break; })
// CHECK-DAG: 'kept' left as it is: {{.*}} [spin-wait]
KERNEL(kept, if (t == 0 && b > 0) { int x; do { x = seen[b - 1]; } while (x != e); })
// CHECK-DAG: 'decided' left as it is: {{.*}} [spin-wait]
KERNEL(decided, if (t == 0 && b > 0) { bool go = true; while (go) { if (seen[b - 1] == e) go = false; } })
// CHECK-DAG: 'bounded' left as it is: {{.*}} [spin-wait]
KERNEL(bounded, if (t == 0 && b > 0) for (int k = 0; k < 1000000 && seen[b - 1] != e; ++k) {})
// CHECK-DAG: 'called' left as it is: {{.*}} (in 'wait') [spin-wait]
KERNEL(called, if (t == 0 && b > 0) wait(flag + b - 1, e);)
// CHECK-DAG: 'jumps' left as it is: {{.*}} (in 'waitLonger') [spin-wait]
KERNEL(jumps, if (t == 0 && b > 0) waitLonger(flag + b - 1, e);)
// CHECK-DAG: 'asked' left as it is: {{.*}} [spin-wait]
KERNEL(asked, if (t == 0 && b > 0) while (get(flag + b - 1) != e){})
// CHECK-DAG: 'library' left as it is: {{.*}} [spin-wait]
KERNEL(library, if (t == 0 && b > 0) {
  cuda::atomic_ref<int, cuda::thread_scope_device> x(flag[b - 1]);
  while (x.load() != e) {
  }
})

// CHECK-DAG: rewrote 'counts'
KERNEL(counts, if (t == 0) for (int k = 0; k < 3; ++k) atomicAdd(flag + k, 1);)
// CHECK-DAG: rewrote 'sums'
KERNEL(sums, r += sumOf(flag, e);)
// CHECK-DAG: rewrote 'looksUp'
KERNEL(looksUp, int p = 0; while (p < 40 && a[p] < r) ++p; r += p;)

void run(const int *a, int *o, int *f, int n) {
#define RUN(name) name<<<(n + 127) / 128, 128>>>(a, o, f, f, n, 7);
  RUN(read) RUN(compared) RUN(added) RUN(cast) RUN(uncached) RUN(broken) RUN(kept)
  RUN(decided) RUN(bounded) RUN(called) RUN(jumps) RUN(asked) RUN(library)
  RUN(counts) RUN(sums) RUN(looksUp)
}
