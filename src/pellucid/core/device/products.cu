// Products of all columns of a table with each other, in double precision, from one reading of the rows.
//
// The columns are those of X (P of them, XT), one of ones, Q targets (YT) and zeros up to a multiple of 8. The tensor
// cores of a card multiply a strip of 16 columns by a group of 8, over 4 rows. Of a group a lane holds one number, the
// same whether it stands on the left or on the right: so a number comes from shared memory, and is made a double, once
// for each warp. A warp has two strips, the first and the last, the second and the last but one..., of which only
// products on and above the diagonal are made: all warps have about as many, and few columns leave warps for other rows.
// Blocks of threads take shares of the rows, whose sums are added by the caller, in one order.

constexpr int ROWS = 16;  // in shared memory at a time, and three times as many on their way there
constexpr int GROUPS = (P + 1 + Q + 7) / 8, STRIPS = (GROUPS + 1) / 2, PAIRS = (STRIPS + 1) / 2, SPLIT = 4 / PAIRS;
constexpr int THREADS = 32 * PAIRS * SPLIT;
constexpr int LINE = (8 * GROUPS + 23) / 32 * 32 + 8;  // no two lanes read from one bank
constexpr int STAGES = ROWS * LINE * sizeof(XT) <= 11264 ? 4 : ROWS * LINE * sizeof(XT) <= 15360 ? 3 : 2;
constexpr int TARGETS = Q > 0 ? Q : 1;

typedef XT Lines[ROWS][LINE];
typedef YT Beside[ROWS][TARGETS];

__device__ constexpr int groups_from(int strip) { return strip < STRIPS ? GROUPS - 2 * strip : 0; }
__device__ constexpr int other_strip(int strip) { return 2 * PAIRS - 1 - strip; }
__device__ constexpr int tiles_of(int strip) { return groups_from(strip) + groups_from(other_strip(strip)); }

// Start to copy bytes into shared memory, or zeros in their place.
template <int BYTES>
__device__ void copy_later(void *to, const void *from, bool is_there) {
  unsigned place = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(place), "l"(from), "n"(BYTES), "r"(is_there ? BYTES : 0));
}

// Start to copy some rows of the table and of the targets.
__device__ void fetch(const XT *X, const YT *y, long long down, long long right, long long first, long long stop,
                      Lines &lines, Beside &beside) {
  constexpr int PIECES = P * sizeof(XT) / WIDTH, EACH = WIDTH / sizeof(XT);
  for (int i = threadIdx.x; i < ROWS * PIECES; i += THREADS) {
    int row = i / PIECES, column = i % PIECES * EACH;
    bool is_there = first + row < stop;
    copy_later<WIDTH>(&lines[row][column], X + (is_there ? (first + row) * P + column : 0), is_there);
  }
  for (int i = threadIdx.x; i < ROWS * Q; i += THREADS) {
    int row = i / TARGETS, target = i % TARGETS;
    bool is_there = first + row < stop;
    copy_later<sizeof(YT)>(&beside[row][target], y + (is_there ? (first + row) * down + target * right : 0), is_there);
  }
  asm volatile("cp.async.commit_group;");
}

// Add the products of a strip and a group over four rows.
__device__ void multiply(double (&sums)[4], const double *left, double right) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
               : "+d"(sums[0]), "+d"(sums[1]), "+d"(sums[2]), "+d"(sums[3]) : "d"(left[0]), "d"(left[1]), "d"(right));
#else
#pragma unroll
  for (int half = 0; half < 2; half++)
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                 : "+d"(sums[2 * half]), "+d"(sums[2 * half + 1]) : "d"(left[half]), "d"(right));
#endif
}

// Add the products of some rows to the tiles of two strips.
template <int STRIP>
__device__ void add_rows(const Lines &lines, const Beside &beside, int split, double (&sums)[tiles_of(STRIP)][4]) {
  constexpr int N = groups_from(STRIP), M = groups_from(other_strip(STRIP)), OTHER = 2 * (other_strip(STRIP) - STRIP);
  int lane = threadIdx.x % 32;
#pragma unroll
  for (int first = 4 * split; first < ROWS; first += 4 * SPLIT) {
    int row = first + lane % 4;
    double group[N + 1];
#pragma unroll
    for (int t = 0; t < N; t++) {
      int last = 8 * (2 * STRIP + t) + 7, column = last - 7 + lane / 4, target = column - P - 1;
      group[t] = lines[row][column];
      if (Q > 0 && last > P && target >= 0 && target < Q) group[t] = beside[row][target];
    }
    group[N] = 0.0;  // the last strip may have one group only
#pragma unroll
    for (int t = 0; t < N; t++) multiply(sums[t], group, group[t]);
#pragma unroll
    for (int t = 0; t < M; t++) multiply(sums[N + t], group + OTHER, group[OTHER + t]);
  }
}

template <int STRIP>
__device__ void sum_share(const XT *X, const YT *y, double *out, long long down, long long right, long long start,
                          long long stop, int split, Lines *lines, Beside *beside) {
  constexpr int N = groups_from(STRIP), ALL = tiles_of(STRIP);
  double sums[ALL][4] = {};
  int stage = 0, lane = threadIdx.x % 32;
  for (long long first = start; first < stop; first += ROWS) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
    __syncthreads();  // the rows of this stage are there, and all have done with those of the last one
    int free = (stage + STAGES - 1) % STAGES;
    fetch(X, y, down, right, first + (STAGES - 1) * ROWS, stop, lines[free], beside[free]);
    add_rows<STRIP>(lines[stage], beside[stage], split, sums);
    stage = (stage + 1) % STAGES;
  }
#pragma unroll
  for (int t = 0; t < ALL; t++) {
    int strip = t < N ? STRIP : other_strip(STRIP), group = 2 * strip + (t < N ? t : t - N);
    double *place = out + (16 * strip + lane / 4) * 8 * GROUPS + 8 * group + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < 4; i++) place[i / 2 * 8 * 8 * GROUPS + i % 2] = sums[t][i];
  }
}

extern "C" __global__ void __launch_bounds__(THREADS, 2)
products(const XT *X, const YT *y, double *out, long long n, long long each, long long down, long long right) {
  __shared__ __align__(16) Lines lines[STAGES];
  __shared__ __align__(16) Beside beside[STAGES];
  for (int i = threadIdx.x; i < STAGES * ROWS; i += THREADS)
    for (int column = P; column < 8 * GROUPS; column++) lines[i / ROWS][i % ROWS][column] = column == P ? 1 : 0;
  long long start = blockIdx.x * each, stop = min(start + each, n);
  for (int s = 0; s < STAGES - 1; s++) fetch(X, y, down, right, start + s * ROWS, stop, lines[s], beside[s]);
  int warp = threadIdx.x / 32, split = warp / PAIRS, strip = warp % PAIRS;
  out += ((long long)blockIdx.x * SPLIT + split) * (16 * STRIPS) * (8 * GROUPS);
  if (strip == 0) sum_share<0>(X, y, out, down, right, start, stop, split, lines, beside);
  if constexpr (PAIRS > 1) if (strip == 1) sum_share<1>(X, y, out, down, right, start, stop, split, lines, beside);
  if constexpr (PAIRS > 2) if (strip == 2) sum_share<2>(X, y, out, down, right, start, stop, split, lines, beside);
  if constexpr (PAIRS > 3) if (strip == 3) sum_share<3>(X, y, out, down, right, start, stop, split, lines, beside);
}
