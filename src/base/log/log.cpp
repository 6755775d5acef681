#include "base/log/log.hpp"

#include <mutex>
#include <utility>

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <unistd.h>

#include "base/assert.hpp"
#include "base/log/log_stream.hpp"

namespace posthorn {
namespace {

/// Hands finished lines to a function, without a line end.
class callback_sink final : public spdlog::sinks::base_sink<std::mutex> {
public:
    explicit callback_sink(std::function<void(std::string_view)> take) : take_(std::move(take)) {}

private:
    void sink_it_(const spdlog::details::log_msg& entry) override {
        take_(std::string_view(entry.payload.data(), entry.payload.size()));
    }
    void flush_() override {}

    std::function<void(std::string_view)> take_;
};

spdlog::sink_ptr make_sink(const log_options& options, log_stream::report tell_of_dropped) {
    if (options.sink) return std::make_shared<callback_sink>(options.sink);
    if (!log_stream::may_wait(STDERR_FILENO))
        return std::make_shared<spdlog::sinks::stderr_sink_mt>();
    auto stream = std::make_shared<log_stream>(STDERR_FILENO, std::move(tell_of_dropped));
    return std::make_shared<callback_sink>(
        [stream = std::move(stream)](std::string_view line) { stream->write(line); });
}

std::string render(const log_options& options, const log_entry& entry) {
    return options.format == log_format::json ? render_json(entry) : render_text(entry);
}

spdlog::level::level_enum to_spdlog(log_level level) {
    switch (level) {
        case log_level::trace: return spdlog::level::trace;
        case log_level::debug: return spdlog::level::debug;
        case log_level::info: return spdlog::level::info;
        case log_level::warn: return spdlog::level::warn;
        case log_level::error: break;
    }
    return spdlog::level::err;
}

}  // namespace

class logger::output {
public:
    output(const log_options& options, log_stream::report tell_of_dropped)
        : to_("posthorn", make_sink(options, std::move(tell_of_dropped))) {
        to_.set_level(spdlog::level::trace);  // The level is checked before a line is rendered.
        to_.set_formatter(std::make_unique<spdlog::pattern_formatter>(
            "%v", spdlog::pattern_time_type::utc, "\n"));
        to_.set_error_handler([](const std::string&) {});
    }

    void write(log_level level, const std::string& line) {
        // With a time given, spdlog does not read the clock itself; the line already has its own.
        constexpr spdlog::log_clock::time_point unused{};
        to_.log(unused, spdlog::source_loc{}, to_spdlog(level), spdlog::string_view_t(line));
    }

private:
    spdlog::logger to_;
};

logger::logger() = default;
logger::~logger() = default;

logger::logger(log_options options, std::function<wall_time()> now)
    : options_(std::move(options)),
      now_(std::move(now)),
      output_(std::make_unique<output>(options_, [this](std::uint64_t dropped) {
          const log_field count{"Count", dropped};
          return render(options_, {.time = now_(),
                                   .level = log_level::warn,
                                   .message_template = "Log: {Count} lines were dropped, since "
                                                       "what is written here was not read",
                                   .fields = {&count, 1},
                                   .value_size_max = options_.value_size_max});
      })) {
    POSTHORN_ASSERT(now_);
}

logger logger::null() { return logger(); }

void logger::write(log_level level, std::string_view text,
                   std::span<const log_field> with) noexcept {
    try {
        const log_entry entry{.time = now_(),
                              .level = level,
                              .message_template = text,
                              .fields = with,
                              .value_size_max = options_.value_size_max};
        output_->write(level, render(options_, entry));
    } catch (...) {  // Out of memory, or a sink's own failure: see the class comment.
    }
}

}  // namespace posthorn
