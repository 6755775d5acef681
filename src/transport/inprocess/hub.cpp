#include "transport/inprocess/hub.hpp"

#include <exception>
#include <utility>

#include <fmt/format.h>

namespace posthorn {
namespace {

std::vector<delivery> all_failed(std::size_t count, std::string why) {
    return {count, delivery{.what = outcome::unanswered, .error = std::move(why)}};
}

}  // namespace

/// Keeps a member from leaving while it is visited.
class inprocess_hub::visit {
public:
    visit(inprocess_hub& hub, std::string_view service) : hub_(hub) {
        const std::scoped_lock lock(hub_.mutex_);
        const auto found = hub_.members_.find(service);
        if (found == hub_.members_.end()) return;
        host_ = found->second;
        ++host_->in_flight;
    }
    ~visit() {
        if (!host_) return;
        const std::scoped_lock lock(hub_.mutex_);
        if (--host_->in_flight == 0 && host_->drained) host_->drained->wake();
    }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;

    [[nodiscard]] receiver* host() const { return host_ ? &host_->to : nullptr; }

private:
    inprocess_hub& hub_;
    std::shared_ptr<member> host_;
};

result<> inprocess_hub::join(std::string service, receiver& to) {
    const std::scoped_lock lock(mutex_);
    if (members_.contains(service))
        return fail(error_code::invalid_argument,
                    "{} runs in this process already; give each node its own service id", service);
    members_.emplace(std::move(service), std::make_shared<member>(to));
    return {};
}

task<> inprocess_hub::leave(std::string service) {
    std::shared_ptr<waiter> drained;
    {
        const std::scoped_lock lock(mutex_);
        const auto found = members_.find(service);
        if (found == members_.end()) co_return;
        const auto leaving = std::move(found->second);
        members_.erase(found);
        if (leaving->in_flight == 0) co_return;
        drained = leaving->drained = waiter::make();
    }
    co_await drained->wait_regardless();
}

task<std::vector<delivery>> inprocess_hub::deliver(std::string destination, message_batch batch) {
    const auto size = batch.size();
    const visit at(*this, destination);
    if (at.host() == nullptr)
        co_return std::vector(
            size, delivery{.what = outcome::unanswered,
                           .error = fmt::format("{} is not running in this process", destination),
                           .code = error_code::unreachable});
    try {
        auto answers = co_await at.host()->receive(std::move(batch));
        // Which message an answer is missing for cannot be told, so none of them counts.
        if (answers.size() == size) co_return answers;
        co_return all_failed(size, fmt::format("{} gave {} answers to {} messages", destination,
                                               answers.size(), size));
    } catch (const std::exception& why) {
        co_return all_failed(size, why.what());
    } catch (...) {
        co_return all_failed(size, "unknown exception");
    }
}

}  // namespace posthorn
