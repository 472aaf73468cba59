// A single block of 1024 threads takes many steps of a one-dimensional model
// in shared memory.
#include "validation.cuh"

__global__ void relax_string(float *u, int steps, float k) {
  __shared__ float now[1024], next[1024];
  int t = threadIdx.x;
  now[t] = u[t];
  __syncthreads();
  for (int s = 0; s < steps; s++) {
    float l = t > 0 ? now[t - 1] : 0.f, r = t < 1023 ? now[t + 1] : 0.f;
    next[t] = now[t] + k * (l - 2.f * now[t] + r);
    __syncthreads();
    now[t] = next[t];
    __syncthreads();
  }
  u[t] = now[t];
}

void settle(float *u, int steps) { relax_string<<<1, 1024>>>(u, steps, 0.1f); }

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int steps : sizes({1000, 10000}, 5)) {
    float *u = filled<float>(1024, 111);
    measure("relax_string", text(steps), [&] { settle(u, steps); },
            {result(u, 1024)});
    release(u);
  }
}
