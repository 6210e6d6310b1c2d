// The nearest of few centers for each row, and whether another one is within the error.
//
// A block of threads keeps all centers in shared memory and takes rows as long as there are any. A warp holds 16 * TILES
// rows in registers; tensor cores multiply them by 8 centers at a time, in TF32, of which all numbers are already. Which
// column is the k-th of a product is free, so a lane takes four that lie side by side. A distance gives its last bits to
// the name of its center among those that the lane sees: then a minimum says how near and who.

constexpr int TILES = WIDTH <= 32 ? 4 : WIDTH <= 64 ? 2 : 1;
constexpr int LINE = WIDTH + 16;  // of centers: no two lanes of eight read from one bank
constexpr int THREADS = 256;
constexpr float FARTHEST = 1e38f;

__device__ void multiply(float (&sums)[4], const float (&left)[4], float low, float high) {
  const unsigned *bits = reinterpret_cast<const unsigned *>(left);
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
               : "r"(bits[0]), "r"(bits[1]), "r"(bits[2]), "r"(bits[3]), "r"(__float_as_uint(low)), "r"(__float_as_uint(high)));
}

// The same number in a register of its own: or each product would first move its four side by side.
__device__ float apart(float value, unsigned nothing) { return __uint_as_float(__float_as_uint(value) ^ nothing); }

struct Two {
  float best, second;
  __device__ void see(float distance) {
    second = fminf(second, fmaxf(best, distance));
    best = fminf(best, distance);
  }
};

extern "C" __global__ void __launch_bounds__(THREADS, 2)
nearest_rows(const float *table, const float *factors, const float *starts, const double *squares, const double *lost,
             const double *errors, long long *labels, bool *unsure, long long n, long long k, long long names) {
  extern __shared__ float4 shared[];
  float *centers = reinterpret_cast<float *>(shared), *begin = centers + (k + 7) / 8 * 8 * LINE;
  int groups = (k + 7) / 8, lane = threadIdx.x % 32, row = lane / 4, part = lane % 4;
  for (int i = threadIdx.x; i < 8 * groups * WIDTH; i += THREADS)
    centers[i / WIDTH * LINE + i % WIDTH] = i < k * WIDTH ? factors[i] : 0.0f;
  for (int i = threadIdx.x; i < 8 * groups; i += THREADS) begin[i] = i < k ? starts[i] : FARTHEST;
  __syncthreads();
  unsigned rest = ~(unsigned)(names - 1), nothing = names >> 32;  // 0, which the compiler does not know
  long long step = (long long)gridDim.x * (THREADS / 32) * 16 * TILES;
  for (long long first = ((long long)blockIdx.x * (THREADS / 32) + threadIdx.x / 32) * 16 * TILES; first < n; first += step) {
    float left[TILES][WIDTH / 8][4];
#pragma unroll
    for (int i = 0; i < TILES * 2; i++) {
      long long place = min(first + 8 * i + row, n - 1);
#pragma unroll
      for (int j = 0; j < WIDTH / 16; j++) {
        float4 four = *reinterpret_cast<const float4 *>(table + place * WIDTH + 16 * j + 4 * part);
        left[i / 2][2 * j][i % 2] = apart(four.x, nothing), left[i / 2][2 * j][i % 2 + 2] = apart(four.y, nothing);
        left[i / 2][2 * j + 1][i % 2] = apart(four.z, nothing), left[i / 2][2 * j + 1][i % 2 + 2] = apart(four.w, nothing);
      }
    }
    Two found[TILES][2];
#pragma unroll
    for (int i = 0; i < TILES * 2; i++) found[i / 2][i % 2] = {FARTHEST, FARTHEST};
    for (int group = 0; group < groups; group++) {
      float2 start = *reinterpret_cast<const float2 *>(begin + 8 * group + 2 * part);
      const float *center = centers + (8 * group + row) * LINE + 4 * part;
      float sums[TILES][4];
#pragma unroll
      for (int i = 0; i < TILES; i++) sums[i][0] = sums[i][2] = start.x, sums[i][1] = sums[i][3] = start.y;
#pragma unroll
      for (int j = 0; j < WIDTH / 16; j++) {
        float4 right = *reinterpret_cast<const float4 *>(center + 16 * j);
#pragma unroll
        for (int i = 0; i < TILES; i++) {
          multiply(sums[i], left[i][2 * j], right.x, right.y);
          multiply(sums[i], left[i][2 * j + 1], right.z, right.w);
        }
      }
#pragma unroll
      for (int i = 0; i < TILES; i++)
#pragma unroll
        for (int c = 0; c < 4; c++)
          found[i][c / 2].see(__uint_as_float((__float_as_uint(sums[i][c]) & rest) | (2 * group + c % 2)));
    }
#pragma unroll
    for (int i = 0; i < TILES * 2; i++) {
      Two two = found[i / 2][i % 2];
      unsigned name = __float_as_uint(two.best) & ~rest;
      int winner = name / 2 * 8 + 2 * part + name % 2;
#pragma unroll
      for (int other = 1; other < 4; other *= 2) {
        float best = __shfl_xor_sync(~0u, two.best, other), second = __shfl_xor_sync(~0u, two.second, other);
        int its = __shfl_xor_sync(~0u, winner, other);
        winner = best < two.best || (best == two.best && its < winner) ? its : winner;
        two.second = fminf(fmaxf(two.best, best), fminf(two.second, second));
        two.best = fminf(two.best, best);
      }
      long long place = first + 8 * i + row;
      if (part == 0 && place < n) {
        double square = squares[place], largest = fmaxf(fabsf(two.best), fabsf(two.second));
        double allowed = errors[0] + errors[1] * sqrt(square) + errors[2] * lost[place] + errors[3] * square + errors[4] * largest;
        labels[place] = winner;
        unsure[place] = !((double)two.second - (double)two.best > allowed);  // NaN is not sure
      }
    }
  }
}
