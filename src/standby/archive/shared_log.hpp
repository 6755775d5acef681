#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "store/log_shipper.hpp"

namespace posthorn::standby {

/// Gives a store's log to several that take it, in their order. Only the first may make a commit
/// wait or fail.
///
/// Lifetime: as they do; they outlive it.
/// Threads:  as they do.
class shared_log final : public log_shipper {
public:
    explicit shared_log(std::vector<log_shipper*> takers) : takers_(std::move(takers)) {}

    void begin(log_source& files) override;
    void end() noexcept override;
    void let_go() noexcept override;
    result<> ready() override;
    void wrote(std::uint64_t end) noexcept override;
    result<> wait() noexcept override;
    bool may_checkpoint(std::uint64_t end) noexcept override;

private:
    /// The files, for several threads.
    class locked_source final : public log_source {
    public:
        explicit locked_source(log_source& files) : files_(files) {}
        result<std::size_t> read_log(std::span<std::byte> into, std::uint64_t at) override;
        result<std::size_t> read_file(std::span<std::byte> into, std::uint64_t at) override;
        result<std::uint64_t> file_size() override;

    private:
        std::mutex mutex_;
        log_source& files_;
    };

    std::vector<log_shipper*> takers_;
    std::optional<locked_source> files_;
};

}  // namespace posthorn::standby
