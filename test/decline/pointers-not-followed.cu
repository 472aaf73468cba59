// Elements of shared arrays behind pointers of which the model does not know where they
// lead: chosen by a condition that threads differ in, null or not, behind another pointer.
// What they read or write is part of no access, and so nothing is moved, nor any barrier.
// REQUIRES: cuda-toolkit
// RUN: rcache-rewrite %s -o /dev/null --force --cuda-path=%cuda 2>&1 | FileCheck %s --implicit-check-not="left as it is" --implicit-check-not=rewrote

#define KERNEL(name, ...)                                                                       \
  __global__ void name(const int *a, int *o, int n, int mode) {                                 \
    __shared__ int s[128];                                                                      \
    const int t = threadIdx.x, g = blockIdx.x * 128 + t;                                        \
    s[t] = g < n ? a[g] : 0;                                                                    \
    __syncthreads();                                                                            \
    int x = 3;                                                                                  \
    __VA_ARGS__                                                                                 \
    if (g < n)                                                                                  \
      o[g] = x;                                                                                 \
  }

// CHECK-DAG: 'chosen' left as it is: {{.*}} ('p' leads to shared memory in a way that is not followed) [escaping-array]
KERNEL(chosen, int *p = s; p = t & 1 ? s : s + 1; if (mode == 7) x += p[t & ~1];)
// CHECK-DAG: 'kept' left as it is: {{.*}} [escaping-array]
KERNEL(kept, int *p = s + 127 - t; p = t & 1 ? p : s + t; if (mode == 7) x += *p;)
// CHECK-DAG: 'orNull' left as it is: {{.*}} [escaping-array]
KERNEL(orNull, const int *p = mode == 7 ? &s[127 - t] : nullptr; x = p ? *p : 7;)
// CHECK-DAG: 'behind' left as it is: {{.*}} [escaping-array]
KERNEL(behind, int *p = &s[t ^ 12]; int **pp = &p; if (mode == 7) x = **pp;)
// CHECK-DAG: 'byName' left as it is: {{.*}} [escaping-array]
KERNEL(byName, int *p = &s[t ^ 12]; int *&q = p; if (mode == 7) q = s; x = *p;)
// CHECK-DAG: 'compared' left as it is: {{.*}} [escaping-array]
KERNEL(compared, int *p = s + (t & 7); p = p == s + 5 ? s + 9 : p; if (mode == 7) x = *p;)

// Those that are followed.
// CHECK-DAG: rewrote 'moved'
KERNEL(moved, const int *p = s + t; p += 127 - 2 * t; x += *p;)
// CHECK-DAG: rewrote 'subscript'
KERNEL(subscript, const int *p = &s[0]; x += p[127 - t] - (p != nullptr);)

// The address of a variable, as a number: nobody sees who uses it.
// CHECK-DAG: 'number' left as it is: {{.*}} (the address of 'v' becomes a number)
KERNEL(number, int v = 3 * t; const size_t u = (size_t)&v; x = s[127 - t]; if (mode == 7) x += *(const int *)u;)
// What is the type of one variable is not that of an element.
// CHECK-DAG: 'typed' left as it is: {{.*}} (the type of 'x' by decltype)
KERNEL(typed, x = s[t ^ 1]; x ^= g; decltype(x) y = x; y += 4; x = x + 3 * y;)
// CHECK-DAG: 'typedIndex' left as it is: {{.*}} (the type of threadIdx or the like by decltype)
KERNEL(typedIndex, decltype(threadIdx.x) i = threadIdx.x; i ^= 1; x = s[i];)
// CHECK-DAG: 'together' left as it is: {{.*}} (a type that is declared together with a variable)
KERNEL(together, struct L { int v; } l{s[t]}; L q = {s[127 - t]}; x = l.v + q.v;)

void run(const int *a, int *o, int n) {
#define RUN(name) name<<<(n + 127) / 128, 128>>>(a, o, n, 3);
  RUN(chosen) RUN(kept) RUN(orNull) RUN(behind) RUN(byName) RUN(compared) RUN(moved)
  RUN(subscript) RUN(number) RUN(typed) RUN(typedIndex) RUN(together)
}
