#include "bench/soak_samples.h"

#include "bench/text.h"

namespace hawthorn::bench {
namespace {

template <class F>
double mean(std::span<const SoakSample> samples, F&& figure) {
  double sum = 0;
  for (const SoakSample& sample : samples) sum += figure(sample);
  return sum / static_cast<double>(samples.size());
}

double ratio(double number, double of) { return of == 0 ? 1 : number / of; }

}  // namespace

std::string_view phase_of(SoakKind kind) {
  static constexpr std::array<std::string_view, kSoakKinds> kNames = {
      "upsert", "overwrite", "remove", "ingest", "get", "multi_get", "range", "snapshot"};
  return kNames[static_cast<size_t>(kind)];
}

void SoakTally::add(SoakKind kind, uint64_t count, uint64_t nanoseconds) {
  const auto at = static_cast<size_t>(kind);
  operations[at].fetch_add(count, std::memory_order_relaxed);
  latencies[at].record(nanoseconds);
  // Who takes samples sets it to 0 in between.
  uint64_t longest = longest_ns[at].load(std::memory_order_relaxed);
  while (nanoseconds > longest &&
         !longest_ns[at].compare_exchange_weak(longest, nanoseconds, std::memory_order_relaxed)) {
  }
}

std::string SoakSample::csv() const {
  std::string line = print_text("%s,%.1f", loading ? "load" : "soak", second);
  for (const uint64_t count : operations) line += print_text(",%lu", count);
  return line + print_text(",%lu,%lu,%lu,%lu,%lu,%lu,%lu,%lu,%lu,%lu", longest_write_us,
                           longest_read_us, longest_ingest_us, cap_bytes, group_bytes, rss_bytes,
                           engine_bytes, data_bytes, log_bytes, live_bytes);
}

double SoakSample::space() const {
  return live_bytes == 0
             ? 0
             : static_cast<double>(data_bytes + log_bytes) / static_cast<double>(live_bytes);
}

std::optional<SoakGrowth> growth_of(std::span<const SoakSample> samples) {
  while (!samples.empty() && samples.front().loading) samples = samples.subspan(1);
  if (samples.size() < kSamplesOfGrowth) return std::nullopt;
  const size_t quarter = samples.size() / 4;
  const std::span<const SoakSample> second = samples.subspan(quarter, quarter);
  const std::span<const SoakSample> last = samples.last(quarter);
  const auto space = [](const SoakSample& sample) { return sample.space(); };
  const auto memory = [](const SoakSample& sample) {
    return static_cast<double>(sample.rss_bytes);
  };
  return SoakGrowth{ratio(mean(last, space), mean(second, space)),
                    ratio(mean(last, memory), mean(second, memory))};
}

std::string complaint(std::span<const SoakSample> samples) {
  for (const SoakSample& sample : samples) {
    const uint64_t used = sample.group_bytes != 0 ? sample.group_bytes : sample.rss_bytes;
    if (sample.cap_bytes == 0 || used <= sample.cap_bytes) continue;
    return print_text("%s of memory at second %.0f, over the cap of %s", with_commas(used).c_str(),
                      sample.second, with_commas(sample.cap_bytes).c_str());
  }
  const std::optional<SoakGrowth> growth = growth_of(samples);
  if (!growth) return {};
  if (growth->space > kSpaceGrowthMax) {
    return print_text("space over live data grew to %.2f times from the second quarter to the last",
                      growth->space);
  }
  if (growth->memory > kMemoryGrowthMax) {
    return print_text("resident memory grew to %.2f times from the second quarter to the last",
                      growth->memory);
  }
  return {};
}

}  // namespace hawthorn::bench
