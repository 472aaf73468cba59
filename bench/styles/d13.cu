// Per-thread numerics: Horner, Romberg, 4x4 and 6x6 inversion, Lorenz-96 RK4, LSTM and GRU cells
#include "shown.h"
#include <cmath>

// ---- erf-like rational approximation by Horner, coefficients in constant memory and a local numerator table
__constant__ float den_coef[8] = {1.0f, 0.52f, 0.131f, 0.0213f, 0.0025f, 0.00021f, 0.000013f, 0.0000005f};

__global__ void hornerRational(const float *x, float *y, int n)
{
    const float num_coef[8] = {0.5f, 1.128f, -0.376f, 0.1128f, -0.0268f, 0.0052f, -0.00085f, 0.00012f};
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float t = x[i] * 0.08f;
        float p = num_coef[7], q = den_coef[7];
        for (int k = 6; k >= 0; k--) {
            p = p * t + num_coef[k];
            q = q * t + den_coef[k];
        }
        y[i] = p / q;
    }
}

// ---- Romberg integration of a damped oscillation, one parameter set a thread
__device__ double integrand(double x, double a, double w) { return exp(-a * x) * cos(w * x); }

#define ROM 7
__global__ void rombergKernel(const double *a, const double *w, double *result, double *err, int n)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= n) return;
    double R[ROM][ROM];
    double lo = 0.0, hi = 2.0;
    double aa = a[id] * 0.1, ww = w[id] * 0.5 + 0.5;
    double h = hi - lo;
    R[0][0] = 0.5 * h * (integrand(lo, aa, ww) + integrand(hi, aa, ww));
    int pts = 1;
    for (int i = 1; i < ROM; i++) {
        h *= 0.5;
        double s = 0.0;
        for (int k = 0; k < pts; k++)
            s += integrand(lo + (2 * k + 1) * h, aa, ww);
        R[i][0] = 0.5 * R[i - 1][0] + h * s;
        double f = 4.0;
        for (int j = 1; j <= i; j++) {
            R[i][j] = R[i][j - 1] + (R[i][j - 1] - R[i - 1][j - 1]) / (f - 1.0);
            f *= 4.0;
        }
        pts *= 2;
    }
    result[id] = R[ROM - 1][ROM - 1];
    err[id] = fabs(R[ROM - 1][ROM - 1] - R[ROM - 1][ROM - 2]);
}

// ---- Gauss-Jordan with partial pivoting, N x N in local memory
template <typename real, int N>
__device__ bool invertInPlace(real (&m)[N][N], real (&inv)[N][N])
{
    for (int i = 0; i < N; ++i)
        for (int j = 0; j < N; ++j)
            inv[i][j] = i == j ? real(1) : real(0);
    for (int c = 0; c < N; ++c) {
        int piv = c;
        for (int r = c + 1; r < N; ++r)
            if (fabs(m[r][c]) > fabs(m[piv][c])) piv = r;
        if (fabs(m[piv][c]) < real(1e-12)) return false;
        if (piv != c)
            for (int j = 0; j < N; ++j) {
                real t = m[c][j]; m[c][j] = m[piv][j]; m[piv][j] = t;
                t = inv[c][j]; inv[c][j] = inv[piv][j]; inv[piv][j] = t;
            }
        real d = real(1) / m[c][c];
        for (int j = 0; j < N; ++j) { m[c][j] *= d; inv[c][j] *= d; }
        for (int r = 0; r < N; ++r) {
            if (r == c) continue;
            real f = m[r][c];
            for (int j = 0; j < N; ++j) {
                m[r][j] -= f * m[c][j];
                inv[r][j] -= f * inv[c][j];
            }
        }
    }
    return true;
}

template <typename real, int N>
__global__ void batchInverse(const real *in, real *out, int n)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= n) return;
    real m[N][N], inv[N][N];
    for (int i = 0; i < N; ++i)
        for (int j = 0; j < N; ++j)
            m[i][j] = in[(size_t)(i * N + j) * n + id] + (i == j ? real(5) : real(0));
    bool ok = invertInPlace<real, N>(m, inv);
    for (int i = 0; i < N; ++i)
        for (int j = 0; j < N; ++j)
            out[(size_t)(i * N + j) * n + id] = ok ? inv[i][j] : real(0);
}

// ---- Lorenz-96 ensemble, 20 variables a member
const int NV = 20;
__device__ void l96_rhs(const float *x, float *dx, float F)
{
    for (int k = 0; k < NV; k++) {
        int kp = (k + 1) % NV, km = (k + NV - 1) % NV, km2 = (k + NV - 2) % NV;
        dx[k] = (x[kp] - x[km2]) * x[km] - x[k] + F;
    }
}

__global__ void lorenz96_rk4(float *state, int members, int steps, float dt, float F)
{
    int m = blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= members) return;
    float x[NV], k1[NV], k2[NV], k3[NV], k4[NV], tmp[NV];
    for (int k = 0; k < NV; k++) x[k] = state[k * members + m];
    for (int s = 0; s < steps; s++) {
        l96_rhs(x, k1, F);
        for (int k = 0; k < NV; k++) tmp[k] = x[k] + 0.5f * dt * k1[k];
        l96_rhs(tmp, k2, F);
        for (int k = 0; k < NV; k++) tmp[k] = x[k] + 0.5f * dt * k2[k];
        l96_rhs(tmp, k3, F);
        for (int k = 0; k < NV; k++) tmp[k] = x[k] + dt * k3[k];
        l96_rhs(tmp, k4, F);
        for (int k = 0; k < NV; k++)
            x[k] += dt / 6.f * (k1[k] + 2.f * k2[k] + 2.f * k3[k] + k4[k]);
    }
    for (int k = 0; k < NV; k++) state[k * members + m] = x[k];
}

// ---- LSTM: whole tiny network a thread (time series ensemble, hidden size 8)
#define HID 8
__device__ __forceinline__ float sigm(float v) { return 1.0f / (1.0f + __expf(-v)); }

__global__ void lstmTiny(const float *__restrict__ series, const float *__restrict__ W, float *__restrict__ out, int nseries, int T)
{
    __shared__ float w[4 * HID * (HID + 2)]; // per gate and unit: input weight, HID recurrent weights, bias
    for (int i = threadIdx.x; i < 4 * HID * (HID + 2); i += blockDim.x)
        w[i] = (W[i] - 6.0f) * 0.05f;
    __syncthreads();
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= nseries) return;
    float h[HID], c[HID];
    for (int u = 0; u < HID; u++) { h[u] = 0.f; c[u] = 0.f; }
    for (int t = 0; t < T; t++) {
        float x = series[(size_t)t * nseries + id] * 0.1f;
        float gates[4][HID];
        for (int g = 0; g < 4; g++)
            for (int u = 0; u < HID; u++) {
                const float *row = w + (g * HID + u) * (HID + 2);
                float a = row[HID + 1] + row[0] * x;
                for (int v = 0; v < HID; v++) a += row[1 + v] * h[v];
                gates[g][u] = g == 2 ? tanhf(a) : sigm(a);
            }
        for (int u = 0; u < HID; u++) {
            c[u] = gates[1][u] * c[u] + gates[0][u] * gates[2][u];
            h[u] = gates[3][u] * tanhf(c[u]);
        }
    }
    for (int u = 0; u < HID; u++) out[(size_t)u * nseries + id] = h[u];
}

int main()
{
    {
        int n = 1 << 25;
        float *x = mk<float>(n), *y = mk<float>(n);
        hornerRational<<<2048, 256>>>(x, y, n);
        show("hornerRational", y, (size_t)n * 4);
    }
    {
        int n = 1 << 20;
        double *a = mk<double>(n), *w = mk<double>(n + 40), *r = mk<double>(n), *e = mk<double>(n);
        rombergKernel<<<(n + 127) / 128, 128>>>(a, w + 33, r, e, n);
        show("rombergKernel", r, (size_t)n * 8);
        show("rombergKernel_err", e, (size_t)n * 8);
    }
    {
        int n = 1 << 20;
        float *a = mk<float>((size_t)n * 16), *b = mk<float>((size_t)n * 16);
        batchInverse<float, 4><<<n / 256, 256>>>(a, b, n);
        show("batchInverse_f4", b, (size_t)n * 16 * 4);
        int m = 200000;
        double *da = mk<double>((size_t)m * 36), *db = mk<double>((size_t)m * 36);
        batchInverse<double, 6><<<(m + 63) / 64, 64>>>(da, db, m);
        show("batchInverse_d6", db, (size_t)m * 36 * 8);
    }
    {
        int members = 1 << 18;
        float *s = mk<float>((size_t)members * NV);
        lorenz96_rk4<<<members / 128, 128>>>(s, members, 40, 0.005f, 8.f);
        show("lorenz96_rk4", s, (size_t)members * NV * 4);
    }
    {
        int ns = 1 << 17, T = 48;
        float *s = mk<float>((size_t)ns * T), *W = mk<float>(4 * HID * (HID + 2)), *o = mk<float>((size_t)ns * HID);
        lstmTiny<<<ns / 128, 128>>>(s, W, o, ns, T);
        show("lstmTiny", o, (size_t)ns * HID * 4);
    }
    return 0;
}
