#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/async/virtual_loop.hpp"
#include "base/random.hpp"
#include "outbox/dispatch/dispatcher.hpp"
#include "unit/outbox/memory_store.hpp"

namespace posthorn::test {

/// A destination that answers as told and remembers what it got.
class fake_wire final : public transport {
public:
    explicit fake_wire(timer& time, memory_store& store) : time_(time), store_(store) {}

    task<std::vector<delivery>> deliver(message_batch batch) override {
        batches.push_back(batch.size());
        for (const auto* one : batch) {
            sends.push_back(one->id);
            sent_at.push_back(dynamic_cast<const clock&>(time_).wall());
            for (const auto& [seq, row] : store_.tables.rows)
                if (row.row.body.id == one->id) unsynced_sends += row.synced ? 0 : 1;
        }
        if (!at_once) std::ignore = co_await time_.sleep_for(delay);  // Others go first.
        std::vector<delivery> answers;
        for (const auto* one : batch) answers.push_back(answer(*one));
        co_return answers;
    }

    void prepare(const message& next) override { prepared.push_back(next.id); }

    std::function<delivery(const message&)> answer = [](const message&) {
        return delivery{.what = outcome::delivered,
                        .duplicate = false,
                        .payload = {},
                        .error = {},
                        .retry_after = {}};
    };
    void always(outcome what, std::string error = "refused") {
        answer = [what, error](const message&) {
            return delivery{
                .what = what, .duplicate = false, .payload = {}, .error = error, .retry_after = {}};
        };
    }
    std::chrono::nanoseconds delay{};
    bool at_once = false;  // As no network is.
    std::vector<uuid> sends;
    std::vector<uuid> prepared;
    std::vector<wall_time> sent_at;
    std::vector<std::size_t> batches;
    int unsynced_sends = 0;

private:
    timer& time_;
    memory_store& store_;
};

/// Chance without chance: the same number for ever.
class constant_random final : public random_source {
public:
    void set(std::uint64_t value) { value_ = value; }
    void fill(std::span<std::byte> out) override {
        for (auto& byte : out) byte = static_cast<std::byte>(value_);
    }
    [[nodiscard]] std::uint64_t next() override { return value_; }

private:
    std::uint64_t value_ = 0;
};

/// One node's dispatcher on a store in memory, under virtual time.
class rig final : public route_table {
public:
    explicit rig(virtual_loop& loop, std::shared_ptr<memory_tables> tables = {},
                 std::string owner = "first")
        : loop_(loop), store(loop.time(), tables ? tables : std::make_shared<memory_tables>()) {
        options.lease.owner = std::move(owner);
    }
    ~rig() override { stop(); }

    transport* find(std::string_view destination) override {
        if (const auto other = others_.find(std::string(destination)); other != others_.end())
            return other->second;
        const auto found = wires_.find(std::string(destination));
        return found == wires_.end() ? nullptr : found->second.get();
    }
    [[nodiscard]] route_limits limits(std::string_view destination) const override {
        const auto found = limits_of.find(std::string(destination));
        return found == limits_of.end() ? route_limits{} : found->second;
    }
    [[nodiscard]] std::vector<drop_order> take_drops() override { return std::exchange(drops, {}); }
    fake_wire& wire(const std::string& destination) {
        auto& place = wires_[destination];
        if (!place) place = std::make_unique<fake_wire>(loop_.time(), store);
        return *place;
    }

    void replace(const std::string& destination, transport* wire) { others_[destination] = wire; }

    /// Starts with the options as they are now, and lets the first sweep pass.
    void start() {
        dispatcher_ = std::make_unique<dispatcher>(
            dispatcher_deps{.env = env_, .store = store, .routes = *this}, options, retries,
            owner_is_gone);
        running_ = std::make_unique<task_group>(loop_.executor());
        running_->spawn(dispatcher_->run());
        loop_.settle();
    }
    void stop() {
        if (!running_) return;
        running_->cancel();
        loop_.run(running_->join());
        running_.reset();
    }
    [[nodiscard]] bool is_running() const { return running_ && running_->size() > 0; }
    [[nodiscard]] dispatcher& get() { return *dispatcher_; }

    message to(std::string destination) {
        message body;
        auto bytes = body.id.bytes();
        ++ids_;
        bytes[14] = static_cast<std::uint8_t>(ids_ >> 8);
        bytes[15] = static_cast<std::uint8_t>(ids_);
        body.id = uuid(bytes);
        body.destination = std::move(destination);
        body.endpoint = "test";
        body.expires_at = loop_.time().wall() + std::chrono::hours{24};
        return body;
    }
    [[nodiscard]] const memory_row& row(std::int64_t seq) const {
        return store.tables.rows.at(seq);
    }
    [[nodiscard]] std::size_t count(outbox_status status) const {
        std::size_t found = 0;
        for (const auto& [seq, one] : store.tables.rows) found += one.status == status ? 1 : 0;
        return found;
    }
    [[nodiscard]] bool logged(std::string_view part) const {
        for (const auto& line : lines)
            if (line.find(part) != std::string::npos) return true;
        return false;
    }

private:
    virtual_loop& loop_;

public:
    memory_store store;
    outbox_options options;
    std::map<std::string, route_limits> limits_of;
    std::vector<drop_order> drops;  // That its routes ask for next.
    retry_policy retries{exponential_backoff{.jitter_max = std::chrono::milliseconds{0}}};
    std::function<bool(const std::string&)> owner_is_gone;
    constant_random random;
    std::vector<std::string> lines;
    logger log{{.sink = [this](std::string_view line) { lines.emplace_back(line); }},
               [this] { return loop_.time().wall(); }};

private:
    inline_executor inline_;
    environment env_{loop_.time(), loop_.time(), random, log, loop_.executor(), inline_, inline_};
    std::map<std::string, std::unique_ptr<fake_wire>> wires_;
    std::map<std::string, transport*> others_;
    std::unique_ptr<dispatcher> dispatcher_;
    std::unique_ptr<task_group> running_;
    unsigned ids_ = 0;
};

}  // namespace posthorn::test
