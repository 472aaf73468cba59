// Windows of two dimensions: whole, without the corners of a star, their rows
// streamed by the loop over taps; the slots in rows, in columns or both.
//
// RUN: %plan %s star -- --kernel=star --exchange=reload --coarsen=4
// RUN: %plan %s held -- --kernel=convolve
// RUN: %plan %s rows -- --kernel=large
// RUN: %plan %s planes -- --kernel=planes
__constant__ float weights[81];

__global__ void star(const float *__restrict__ in, float *__restrict__ out, int w) {
  __shared__ float s[10][34];
  int tx = threadIdx.x, ty = threadIdx.y;
  int x = blockIdx.x * 32 + tx, y = blockIdx.y * 8 + ty;
  s[ty + 1][tx + 1] = in[(y + 1) * w + x + 1];
  if (ty == 0) {
    s[0][tx + 1] = in[y * w + x + 1];
    s[9][tx + 1] = in[(y + 9) * w + x + 1];
  }
  if (tx == 0) {
    s[ty + 1][0] = in[(y + 1) * w + x];
    s[ty + 1][33] = in[(y + 1) * w + x + 33];
  }
  __syncthreads();
  out[y * w + x] = s[ty + 1][tx + 1] - 0.25f * (s[ty][tx + 1] + s[ty + 2][tx + 1] +
                                               s[ty + 1][tx] + s[ty + 1][tx + 2]);
}

__global__ void convolve(const float *__restrict__ in, float *__restrict__ out, int w, int h) {
  __shared__ float s[20][36];
  int x0 = blockIdx.x * 32, y0 = blockIdx.y * 16;
  for (int y = threadIdx.y; y < 20; y += 16)
    for (int x = threadIdx.x; x < 36; x += 32) {
      int gx = x0 + x - 2, gy = y0 + y - 2;
      s[y][x] = gx >= 0 && gx < w && gy >= 0 && gy < h ? in[gy * w + gx] : 0.0f;
    }
  __syncthreads();
  float sum = 0;
  for (int j = 0; j < 5; ++j)
    for (int i = 0; i < 5; ++i)
      sum += weights[5 * j + i] * s[threadIdx.y + j][threadIdx.x + i];
  int gx = x0 + threadIdx.x, gy = y0 + threadIdx.y;
  if (gx < w && gy < h)
    out[gy * w + gx] = sum;
}

__global__ void large(const float *__restrict__ in, float *__restrict__ out, int w, int h) {
  __shared__ float s[24][24];
  int x0 = blockIdx.x * 16, y0 = blockIdx.y * 16;
  for (int y = threadIdx.y; y < 24; y += 16)
    for (int x = threadIdx.x; x < 24; x += 16) {
      int gx = x0 + x - 4, gy = y0 + y - 4;
      s[y][x] = gx >= 0 && gx < w && gy >= 0 && gy < h ? in[gy * w + gx] : 0.0f;
    }
  __syncthreads();
  float sum = 0;
  for (int j = 0; j < 9; ++j)
    for (int i = 0; i < 9; ++i)
      sum += weights[9 * j + i] * s[threadIdx.y + j][threadIdx.x + i];
  int gx = x0 + threadIdx.x, gy = y0 + threadIdx.y;
  if (gx < w && gy < h)
    out[gy * w + gx] = sum;
}

// a walk through planes; the window is the plane's, the other two are registers
__global__ void planes(const float *__restrict__ in, float *__restrict__ out, int w, int h, int d) {
  __shared__ float s[10][34];
  int tx = threadIdx.x, ty = threadIdx.y;
  int x = blockIdx.x * 32 + tx + 1, y = blockIdx.y * 8 + ty + 1;
  float below = in[y * w + x], here = in[(h + y) * w + x];
  for (int z = 1; z < d - 1; ++z) {
    float above = in[((z + 1) * h + y) * w + x];
    __syncthreads();
    s[ty + 1][tx + 1] = here;
    if (ty == 0)
      s[0][tx + 1] = in[(z * h + y - 1) * w + x];
    if (ty == 7)
      s[9][tx + 1] = in[(z * h + y + 1) * w + x];
    __syncthreads();
    out[(z * h + y) * w + x] = below + above + s[ty][tx + 1] + s[ty + 2][tx + 1];
    below = here;
    here = above;
  }
}

void run(const float *in, float *out, int w, int h, int d) {
  star<<<dim3(w / 32, h / 8), dim3(32, 8)>>>(in, out, w);
  convolve<<<dim3(w / 32, h / 16), dim3(32, 16)>>>(in, out, w, h);
  large<<<dim3(w / 16, h / 16), dim3(16, 16)>>>(in, out, w, h);
  planes<<<dim3(w / 32, h / 8), dim3(32, 8)>>>(in, out, w, h, d);
}
