#include "measure/report.hpp"

#include <fmt/format.h>

namespace posthorn::measure {
namespace {

std::string to_json(const percentiles& of, std::string_view prefix) {
    return fmt::format(
        R"("{0}p10_us":{1:.1f},"{0}p50_us":{2:.1f},"{0}p99_us":{3:.1f},"{0}p999_us":{4:.1f})",
        prefix, of.p10_us, of.p50_us, of.p99_us, of.p999_us);
}

// Durations from microseconds up, in what is easiest to read.
std::string duration(double us) {
    return us < 1000 ? fmt::format("{:.0f} us", us) : fmt::format("{:.2f} ms", us / 1000);
}

std::string row(std::string_view name, const percentiles& of) {
    return fmt::format("  {:<28}{:>12}{:>12}{:>12}\n", name, duration(of.p50_us),
                       duration(of.p99_us), duration(of.p999_us));
}

}  // namespace

std::string to_json(const subject& what, const outcome& seen) {
    const auto& with = seen.with;
    return fmt::format(
        R"({{"name":"{}","transport":"{}","guarantee":"{}","syncs_before_ack":{},"note":"{}",)"
        R"("mode":"{}","senders":{},"chained":{},"seconds":{},"rate":{},"messages":{},)"
        R"("per_second":{:.1f},{},{},{},{},"cpu_us":{:.2f},"syncs":{},"file_bytes":{:.1f},)"
        R"("memory_kib":{},"settle_ms":{:.1f}}})",
        what.name, what.transport, what.guarantee, what.syncs_before_ack, what.note,
        to_string(with.mode), with.mode == load_mode::serial ? 1 : with.senders, with.chained,
        with.seconds, with.mode == load_mode::rate ? fmt::format("{}", with.rate) : "null",
        seen.messages, seen.per_second, to_json(seen.to_effect, ""),
        to_json(seen.to_commit, "commit_"), to_json(seen.commit_to_effect, "after_commit_"),
        to_json(seen.to_both, "both_"), seen.cpu_us,
        seen.syncs < 0 ? "null" : fmt::format("{:.4f}", seen.syncs), seen.file_bytes,
        seen.memory_kib, seen.settle_ms);
}

std::string to_text(const subject& what, const outcome& seen) {
    const auto& with = seen.with;
    std::string load;
    switch (with.mode) {
        case load_mode::concurrent:
            load = fmt::format("{} senders{}", with.senders, with.chained ? ", called back" : "");
            break;
        case load_mode::serial: load = "one at a time, each effective before the next"; break;
        case load_mode::rate: load = fmt::format("{} messages/s", with.rate); break;
    }
    auto text = fmt::format("{} over {}, {}: {} messages\n", what.name, what.transport, load,
                            seen.messages);
    const auto line = [&text](std::string_view name, const std::string& value) {
        text += fmt::format("  {:<28}{:>12}\n", name, value);
    };
    line("messages/s", fmt::format("{:.0f}", seen.per_second));
    text += fmt::format("  {:<28}{:>12}{:>12}{:>12}\n", "", "p50", "p99", "p99.9");
    text += row("due to effect", seen.to_effect);
    text += row("due to durable", seen.to_commit);
    text += row("durable to effect", seen.commit_to_effect);
    line("CPU a message", fmt::format("{:.1f} us", seen.cpu_us));
    line("syncs a message", seen.syncs < 0 ? "?" : fmt::format("{:.3f}", seen.syncs));
    line("file growth a message", fmt::format("{:.0f} bytes", seen.file_bytes));
    line("memory", fmt::format("{:.1f} MiB", static_cast<double>(seen.memory_kib) / 1024));
    return text;
}

}  // namespace posthorn::measure
