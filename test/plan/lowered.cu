// The bodies of the candidates as trees: statements with the variables that they
// use, under slot loops, behind what stands at barriers.
//
// REQUIRES: cuda-toolkit
// RUN: rcache-rewrite %s --force --self-check=off -o %t.cu --print-after=lower --cuda-path=%cuda 2> %t.remarks | FileCheck %s
//
// The staging is gone; what is loaded before the barrier and used behind it has one
// element a slot; the index is computed again where it is asked for.
// CHECK: 4 outputs a thread; 's' reloaded
// CHECK-NEXT: per slot v
// CHECK-NEXT: slots
// CHECK-NEXT: statements `const int l = rc_thread_x, {{.*}}...` uses {{.*}}g
// CHECK-NEXT: exchange at {{[0-9]+}} `// Phase:
// CHECK-NEXT: collect rc_out_v with flags
// CHECK-NEXT: slots
// CHECK-NEXT: statements `rc_out_v = rc_s_w[rc_s] {{.*}} uses v
// CHECK-NEXT: slots
// CHECK-NEXT: statements `rc_out_v_on = true;`
// CHECK-NEXT: store run rc_out_v, 16 bytes
__global__ void window(const float *__restrict__ in, const float *__restrict__ weight,
                       float *__restrict__ out, int n) {
  __shared__ float s[258];
  const int l = threadIdx.x, g = blockIdx.x * 256 + l;
  float v = weight[g + n];
  s[l] = in[g];
  if (l < 2)
    s[l + 256] = in[g + 256];
  __syncthreads();
  out[g] = s[l] + s[l + 1] * v + s[l + 2];
}

void launch(const float *in, const float *weight, float *out, int n) {
  window<<<n / 256, 256>>>(in, weight, out, n);
}
