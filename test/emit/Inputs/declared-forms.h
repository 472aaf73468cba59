__global__ void inHeader(const float *a, float *b, int n);
