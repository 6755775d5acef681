#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/trace/trace_span.hpp"
#include "otlp/protobuf_writer.hpp"
#include "otlp/telemetry_names.hpp"

namespace posthorn {

/// Who tells: the resource's attributes, such as `service.name`.
using telemetry_resource = std::vector<std::pair<std::string, std::string>>;

/// `ExportTraceServiceRequest` in protocol buffers. Pure.
[[nodiscard]] std::string encode_spans(const telemetry_resource& resource,
                                       std::span<const trace_span> spans, telemetry_profile by);

// Parts that metrics have too.
void write_resource(protobuf_writer& to, std::uint32_t field, const telemetry_resource& resource);
void write_scope(protobuf_writer& to, std::uint32_t field, telemetry_profile by);
/// A `KeyValue` with a text.
void write_text(protobuf_writer& to, std::uint32_t field, std::string_view key,
                std::string_view value);

}  // namespace posthorn
