// Declined as emit-failed (unknown value 's[t]'): the index depends on staged data,
// data-dependent-index would be the reason.
__global__ void k10602(const double *__restrict__ in, double *__restrict__ out, int n) {
__shared__ double s[256];
const int t = threadIdx.x;
const int g = blockIdx.x * 256 + t;
s[t] = g < n ? in[g] : (double)1;
__syncthreads();
if (g < n)
  out[g] = s[s[t] > s[0] ? t : 0];
}

void launch(const double *in, double *out, int n) {
  k10602<<<(n + 255) / 256, 256>>>(in, out, n);
}
