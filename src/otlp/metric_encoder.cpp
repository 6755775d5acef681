#include "otlp/metric_encoder.hpp"

namespace posthorn {
namespace {

constexpr std::uint64_t cumulative = 2;

void write_labels(protobuf_writer& to, std::uint32_t field, const metric_labels& labels) {
    for (const auto& [key, value] : labels) write_text(to, field, key, value);
}

void write_number(protobuf_writer& to, const metric_point& point, const metric_times& times,
                  bool is_counter) {
    to.message(1, [&] {
        if (is_counter) to.fixed64(2, static_cast<std::uint64_t>(times.since_ns));
        to.fixed64(3, static_cast<std::uint64_t>(times.at_ns));
        to.always_real(4, point.value);
        write_labels(to, 7, point.labels);
    });
}

void write_histogram(protobuf_writer& to, const metric_point& point, const metric_times& times) {
    std::uint64_t count = 0;
    for (const auto each : point.counts) count += each;
    to.message(1, [&] {
        to.fixed64(2, static_cast<std::uint64_t>(times.since_ns));
        to.fixed64(3, static_cast<std::uint64_t>(times.at_ns));
        to.fixed64(4, count);
        to.always_real(5, point.sum);
        to.packed_fixed64(6, point.counts);
        to.packed_real(7, point.bounds);
        write_labels(to, 9, point.labels);
    });
}

void write_metric(protobuf_writer& to, const metric& one, const metric_times& times) {
    to.bytes(1, one.name);
    to.bytes(2, one.help);
    to.bytes(3, one.unit);
    switch (one.what) {
        case metric::kind::gauge:
            to.message(5, [&] {
                for (const auto& point : one.points) write_number(to, point, times, false);
            });
            break;
        case metric::kind::counter:
            to.message(7, [&] {
                for (const auto& point : one.points) write_number(to, point, times, true);
                to.varint(2, cumulative);
                to.varint(3, 1);  // It only rises.
            });
            break;
        case metric::kind::histogram:
            to.message(9, [&] {
                for (const auto& point : one.points) write_histogram(to, point, times);
                to.varint(2, cumulative);
            });
            break;
    }
}

}  // namespace

std::string encode_metrics(const telemetry_resource& resource, std::span<const metric> metrics,
                           const metric_times& times, telemetry_profile by) {
    std::string out;
    protobuf_writer to(out);
    to.message(1, [&] {
        write_resource(to, 1, resource);
        to.message(2, [&] {
            write_scope(to, 1, by);
            for (const auto& one : metrics) to.message(2, [&] { write_metric(to, one, times); });
        });
    });
    return out;
}

}  // namespace posthorn
