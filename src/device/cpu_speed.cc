#include "device/cpu_speed.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace simpred {
namespace {

using Clock = std::chrono::steady_clock;

Duration Since(Clock::time_point start) {
  return Nanoseconds(std::chrono::duration<double, std::nano>(Clock::now() - start).count());
}

// The compiler must neither know `value` nor drop what it was computed from.
template <typename T>
void Keep(T& value) {
  asm volatile("" : "+m"(value) : : "memory");
}

// A loop of `rounds` rounds; gives the operations done. Twelve chains: two units with a latency of four to six
// cycles need eight to twelve to be always busy.
using Loop = double (*)(int64_t rounds);
constexpr int kChains = 12;

// Vectors of the compiler: the baseline instruction set of any architecture.
double GenericLoop(int64_t rounds) {
  using Vector = float __attribute__((vector_size(16)));
  Vector factor = {0.999F, 0.999F, 0.999F, 0.999F};
  Vector term = {0.001F, 0.001F, 0.001F, 0.001F};
  Keep(factor);
  Keep(term);
  Vector chain[kChains] = {};
  for (auto& c : chain) Keep(c);  // equal chains would be computed once
  for (int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 12
    for (auto& c : chain) c = c * factor + term;
  }
  for (auto& c : chain) Keep(c);
  return static_cast<double>(rounds) * kChains * 4 * 2;
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) double Avx2Loop(int64_t rounds) {
  float factor_value = 0.999F;
  float term_value = 0.001F;
  Keep(factor_value);
  Keep(term_value);
  const __m256 factor = _mm256_set1_ps(factor_value);
  const __m256 term = _mm256_set1_ps(term_value);
  __m256 chain[kChains] = {};
  for (auto& c : chain) Keep(c);  // equal chains would be computed once
  for (int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 12
    for (auto& c : chain) c = _mm256_fmadd_ps(c, factor, term);
  }
  for (auto& c : chain) Keep(c);
  return static_cast<double>(rounds) * kChains * 8 * 2;
}

__attribute__((target("avx512f"))) double Avx512Loop(int64_t rounds) {
  float factor_value = 0.999F;
  float term_value = 0.001F;
  Keep(factor_value);
  Keep(term_value);
  const __m512 factor = _mm512_set1_ps(factor_value);
  const __m512 term = _mm512_set1_ps(term_value);
  __m512 chain[kChains] = {};
  for (auto& c : chain) Keep(c);  // equal chains would be computed once
  for (int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 12
    for (auto& c : chain) c = _mm512_fmadd_ps(c, factor, term);
  }
  for (auto& c : chain) Keep(c);
  return static_cast<double>(rounds) * kChains * 16 * 2;
}

__attribute__((target("avx512f,avx512vnni"))) double VnniLoop(int64_t rounds) {
  int left_value = 0x01010101;
  int right_value = 0x02020202;
  Keep(left_value);
  Keep(right_value);
  const __m512i left = _mm512_set1_epi32(left_value);
  const __m512i right = _mm512_set1_epi32(right_value);
  __m512i chain[kChains] = {};
  for (auto& c : chain) Keep(c);  // equal chains would be computed once
  for (int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 12
    for (auto& c : chain) c = _mm512_dpbusd_epi32(c, left, right);
  }
  for (auto& c : chain) Keep(c);
  return static_cast<double>(rounds) * kChains * 64 * 2;
}
#endif

FlopsPerSecond FastestRun(Loop loop) {
  constexpr int64_t kRounds = 200000;  // about a millisecond
  constexpr int kRuns = 60;            // the first ones wake the clock and the wide units
  FlopsPerSecond best;
  for (int run = 0; run < kRuns; ++run) {
    const auto start = Clock::now();
    const Flops work(loop(kRounds));
    best = std::max(best, work / Since(start));
  }
  return best;
}

// Adds up all of [data, data + count) with the widest loads; `count` is a multiple of 128 floats (512 bytes).
using Reader = void (*)(const float* data, size_t count);

void GenericRead(const float* data, size_t count) {
  using Vector = float __attribute__((vector_size(16)));
  Vector sum[8] = {};
  for (size_t i = 0; i < count; i += 32) {
#pragma GCC unroll 8
    for (size_t j = 0; j < 8; ++j) {
      Vector loaded;
      std::memcpy(&loaded, data + i + 4 * j, sizeof(loaded));
      sum[j] += loaded;
    }
  }
  for (auto& s : sum) Keep(s);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void Avx2Read(const float* data, size_t count) {
  __m256 sum[8] = {};
  for (size_t i = 0; i < count; i += 64) {
#pragma GCC unroll 8
    for (size_t j = 0; j < 8; ++j) sum[j] = _mm256_add_ps(sum[j], _mm256_load_ps(data + i + 8 * j));
  }
  for (auto& s : sum) Keep(s);
}

__attribute__((target("avx512f"))) void Avx512Read(const float* data, size_t count) {
  __m512 sum[8] = {};
  for (size_t i = 0; i < count; i += 128) {
#pragma GCC unroll 8
    for (size_t j = 0; j < 8; ++j) sum[j] = _mm512_add_ps(sum[j], _mm512_load_ps(data + i + 16 * j));
  }
  for (auto& s : sum) Keep(s);
}
#endif

Reader WidestReader() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return Avx512Read;
  if (__builtin_cpu_supports("avx2")) return Avx2Read;
#endif
  return GenericRead;
}

constexpr size_t kStep = 512;  // bytes that one turn of the widest reader takes

struct AlignedDelete {
  void operator()(float* p) const { ::operator delete[](p, std::align_val_t(4096)); }
};
using Buffer = std::unique_ptr<float[], AlignedDelete>;

// One thread's part: filled by the thread that reads it, so that its pages lie near to it.
Buffer MakeBuffer(size_t bytes) {
  auto* data = static_cast<float*>(::operator new[](bytes, std::align_val_t(4096)));
  std::fill_n(data, bytes / sizeof(float), 1.0F);
  return Buffer(data);
}

}  // namespace

FlopsPerSecond MeasureFloat32Peak() {
#if defined(__x86_64__)
  // Some processors are faster with the narrower instructions (clock, or two units instead of one): take the better.
  FlopsPerSecond best;
  if (__builtin_cpu_supports("avx512f")) best = std::max(best, FastestRun(Avx512Loop));
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) best = std::max(best, FastestRun(Avx2Loop));
  if (best.count() > 0) return best;
#endif
  return FastestRun(GenericLoop);
}

FlopsPerSecond MeasureInt8Peak() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vnni")) return FastestRun(VnniLoop);
#endif
  return {};
}

BytesPerSecond MeasureReadBandwidth(Bytes working_set, int threads) {
  const size_t bytes = std::max(static_cast<size_t>(working_set.count() / threads) / kStep * kStep, kStep);
  // A run of at least 2 MiB: the clock's own cost must not count.
  const size_t repeats = std::max<size_t>(1, (size_t{2} << 20) / bytes);
  constexpr int kRuns = 12;
  const Reader read = WidestReader();
  std::vector<BytesPerSecond> best(static_cast<size_t>(threads));
  std::barrier together(threads);
  const auto work = [&](size_t thread) {
    const Buffer buffer = MakeBuffer(bytes);
    for (int run = 0; run < kRuns; ++run) {
      together.arrive_and_wait();
      const auto start = Clock::now();
      for (size_t i = 0; i < repeats; ++i) {
        read(buffer.get(), bytes / sizeof(float));
        asm volatile("" : : : "memory");  // every pass reads anew
      }
      best[thread] = std::max(best[thread], Bytes(static_cast<int64_t>(bytes * repeats)) / Since(start));
    }
  };
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(work, static_cast<size_t>(t));
  work(0);
  for (std::thread& thread : others) thread.join();
  double sum = 0;
  for (const BytesPerSecond& rate : best) sum += rate.count();
  return BytesPerSecond(sum);
}

}  // namespace simpred
