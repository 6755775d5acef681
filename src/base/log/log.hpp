#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>

#include "base/log/log_render.hpp"

namespace posthorn {

struct log_options {
    log_level level = log_level::info;  // Lines below it are dropped.
    log_format format = log_format::text;
    std::function<void(std::string_view line)> sink{};  // Standard error if empty.
    std::size_t value_size_max = log_value_size_max_default;
};

/// Writes structured log lines: `log.info("Message {MessageId} sent", {{"MessageId", id}});`
///
/// Lifetime: owned by the node's builder, passed by reference; outlives those who log. What `now`
///           and the sink refer to outlives it.
/// Threads:  any, at once, if `now` allows that. The sink gets one line at a time and must not log.
/// Cancel:   nothing to cancel. A line that cannot be written is dropped, since no service may fail
///           because of its log; so nothing here throws.
class logger {
public:
    using fields = std::initializer_list<log_field>;

    logger(log_options options, std::function<wall_time()> now);
    ~logger();
    logger(const logger&) = delete;
    logger& operator=(const logger&) = delete;

    /// One that drops everything, for tests.
    [[nodiscard]] static logger null();

    [[nodiscard]] bool enabled(log_level level) const noexcept {
        return output_ != nullptr && level >= options_.level;
    }

    void log(log_level level, std::string_view text, std::span<const log_field> with) noexcept {
        if (enabled(level)) write(level, text, with);
    }

    void trace(std::string_view text, fields with = {}) noexcept {
        log(log_level::trace, text, with);
    }
    void debug(std::string_view text, fields with = {}) noexcept {
        log(log_level::debug, text, with);
    }
    void info(std::string_view text, fields with = {}) noexcept {
        log(log_level::info, text, with);
    }
    void warn(std::string_view text, fields with = {}) noexcept {
        log(log_level::warn, text, with);
    }
    void error(std::string_view text, fields with = {}) noexcept {
        log(log_level::error, text, with);
    }

private:
    class output;

    logger();
    void write(log_level level, std::string_view text, std::span<const log_field> with) noexcept;

    log_options options_;
    std::function<wall_time()> now_;
    std::unique_ptr<output> output_;  // Keeps spdlog out of this header.
};

}  // namespace posthorn
