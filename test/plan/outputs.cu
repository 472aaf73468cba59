// Several outputs a thread in the original: planned in a text in which each round is
// a thread of its own. Stores as vectors, preconditions, pointers that must differ.
//
// RUN: %plan %s spread -- --kernel=row
// RUN: %plan %s separate -- --kernel=maybeSame --coarsen=4 --exchange=reload
__global__ void row(const float *__restrict__ in, float *__restrict__ out, int pitch) {
  __shared__ float s[4][160];
  int x = threadIdx.x, y = threadIdx.y;
  int first = blockIdx.x * 128 + x, g = (blockIdx.y * 4 + y) * pitch + first;
  for (int i = 0; i < 10; ++i)
    s[y][x + i * 16] = in[g + i * 16];
  __syncthreads();
  for (int i = 0; i < 8; ++i) {
    float sum = 0;
    for (int j = 0; j <= 8; ++j)
      sum += s[y][x + i * 16 + j];
    out[g + i * 16] = sum;
  }
}

__global__ void maybeSame(const float *in, float *out, int n) {
  __shared__ float s[258];
  int l = threadIdx.x, g = blockIdx.x * 256 + l;
  s[l] = in[g];
  if (l < 2)
    s[l + 256] = in[g + 256];
  __syncthreads();
  out[g] = s[l] + s[l + 1] + s[l + 2];
}

void run(const float *in, float *out, int n, int pitch) {
  row<<<dim3(n / 128, n / 4), dim3(16, 4)>>>(in, out, pitch);
  maybeSame<<<n / 256, 256>>>(in, out, n);
}
