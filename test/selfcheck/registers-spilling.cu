// Each hint that can be given is written once and executed, spilling to shared memory
// among them; ptxas says that what was asked for is what there is.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rm -rf %t && mkdir -p %t
// RUN: rcache-rewrite %s --only=registers --force --emit-candidates=%t/c --explain-choice --self-check=quick --cuda-path=%cuda --arch=sm_90 --report=%t/report.json -o %t/best.cu 2> %t/choice
// RUN: FileCheck %s < %t/choice
// RUN: %python %S/../output/Inputs/validate.py %src/docs/report.schema.json %t/report.json
// RUN: %python %S/Inputs/each_hint.py %t/report.json %t/c %nvcc
// The text that spills to shared memory.
// RUN: grep -lE '^ *asm volatile' %t/c/many.c*.cu | head -n 1 > %t/name
// RUN: sh -c "FileCheck --check-prefix=TEXT %s < $(cat %t/name)"
// RUN: sh -c "rcache-check $(cat %t/name) --kernel=many --arg=rounds=3 --trials=40 --cuda-path=%cuda" 2>&1 | FileCheck --check-prefix=EXECUTED %s
// -rdc=true and -G: ptxas does not take it, so it is no candidate; bounds are.
// RUN: %if slow %{ rcache-rewrite %s --only=registers --force --explain-choice --self-check=off --cuda-path=%cuda -o %t/off.cu 2>&1 | FileCheck --check-prefix=OFF %s %}
// RUN: rcache-rewrite %s --only=registers --force --explain-choice --self-check=quick --cuda-path=%cuda --arch=sm_90 -o %t/rdc.cu -- -rdc=true > %t/rdc 2>&1
// RUN: FileCheck --check-prefix=RDC %s < %t/rdc
//
// CHECK: candidates of 'many' on sm_90 (H200), as nvcc compiles them, clocks for a warp (not measured):
// CHECK-NEXT: # regs stack stores loads shared warps busy wait clocks predicted
// CHECK-NEXT: - {{.*}} 1.00x the original
// CHECK-NEXT: 0 {{.*}} launch bounds of 128 threads
// CHECK: launch bounds of 128 threads, 11 blocks an SM; spilling to shared memory
// TEXT: {{^ +}}many_rc(const float *__restrict__ in, float *__restrict__ out, int rounds) {
// TEXT-NEXT: // many as it is, in blocks of 128 threads, {{[0-9]+}} of them on an SM:
// TEXT-NEXT: // the compiler gives a thread the registers that leaves.
// TEXT-NEXT: // Those that are too few are spilled to shared memory.
// TEXT-NEXT: asm volatile(".pragma \"enable_smem_spilling\";");
// TEXT-NEXT: const int t = blockIdx.x * 128 + threadIdx.x;
// EXECUTED: equivalent: many: {{.*}} compared bit for bit, {{[1-9][0-9]*}} of them by a rewritten kernel
// OFF: left as it is: no gain is predicted (hints about registers need nvcc
// RDC: launch bounds of 128 threads, 1 block an SM
// RDC: spilling to shared memory [{{.*}}failed
__global__ void many(const float *__restrict__ in, float *__restrict__ out, int rounds) {
  const int t = blockIdx.x * 128 + threadIdx.x;
  float v[48];
#pragma unroll
  for (int i = 0; i < 48; ++i)
    v[i] = in[i * 1024 + t];
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int i = 0; i < 48; ++i)
      v[i] = fmaf(v[i], v[(i + 7) % 48], v[(i * 5 + 1) % 48]);
  }
#pragma unroll
  for (int i = 0; i < 48; ++i)
    out[i * 1024 + t] = v[i];
}

void run(const float *in, float *out) { many<<<8, 128>>>(in, out, 3); }
