// Registers and spills of the compiler replace the estimates.
// REQUIRES: cuda-toolkit
// RUN: %rewrite %s -o %t.cu --tune=ptxas --explain-choice --report=%t.json -- -arch=sm_90 2>&1 | FileCheck %s
// CHECK: note: {{[0-9]+}} registers a thread (ptxas), predicted speed-up
// CHECK: candidates of 'blur'
// A candidate that was compiled has no ~.
// CHECK: {{^ *[0-9]+ .* [0-9]+ +[0-9]+ +[0-9.]+ .*}} <- chosen
// CHECK: was chosen: {{.*}} with the compiler's {{[0-9]+}} registers
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t.json
// REPORT: "speedupFrom": "ptxas"
// REPORT: "compiledRegisters":
//
// Too few registers: a candidate that spills loses against one that does not.
// RUN: %rewrite %s -q -o /dev/null --tune=ptxas --explain-choice -- -arch=sm_90 -maxrregcount=32 2>&1 | FileCheck %s --check-prefix=SPILL
// SPILL-DAG: {{[0-9]+\+[0-9]+B .*}} [spills]
// SPILL-DAG: {{.*}} <- chosen
// SPILL-NOT: [spills] <- chosen
//
// Without a compiler the prediction stays.
// RUN: env NVCC=%t.none %rewrite %s -o /dev/null --tune=ptxas 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: about {{[0-9]+}} registers a thread, predicted
// NONE: note: not tuned: cannot run '{{.*}}.none'

#define R 2

__global__ void blur(const float *__restrict__ in, float *__restrict__ out, int w, int h) {
  __shared__ float s[8 + 2 * R][32 + 2 * R];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  for (int j = threadIdx.y; j < 8 + 2 * R; j += 8)
    for (int i = threadIdx.x; i < 32 + 2 * R; i += 32) {
      const int sy = blockIdx.y * 8 + j - R, sx = blockIdx.x * 32 + i - R;
      s[j][i] = sy >= 0 && sy < h && sx >= 0 && sx < w ? in[sy * w + sx] : 0.0f;
    }
  __syncthreads();
  if (x < w && y < h) {
    float sum = 0;
    for (int j = 0; j <= 2 * R; ++j)
      for (int i = 0; i <= 2 * R; ++i)
        sum += s[threadIdx.y + j][threadIdx.x + i] * (j + i * 0.5f);
    out[y * w + x] = sum;
  }
}

void run(const float *in, float *out, int w, int h) {
  blur<<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>(in, out, w, h);
}
