// Stores in memory that behave as those of an application do.
#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include <posthorn/error.hpp>
#include <posthorn/own_stores.hpp>

namespace posthorn {
namespace {

class memory_outbox final : public own_outbox {
public:
    void add(const own_message& what) override {
        const std::scoped_lock lock(mutex_);
        const auto at =
            std::ranges::find(rows_, what.id, [](const row& one) { return one.what.id; });
        if (at == rows_.end()) rows_.push_back({what, wall_time::min(), false});
    }
    std::vector<own_message> pending(std::size_t limit, wall_time now) override {
        const std::scoped_lock lock(mutex_);
        std::vector<own_message> due;
        for (const auto& one : rows_)
            if (due.size() < limit && !one.is_done && one.next <= now) due.push_back(one.what);
        return due;
    }
    void mark_published(const uuid& id, wall_time) override {
        change(id, [](row& one) { one.is_done = true; });
    }
    void mark_failed(const uuid& id, std::string_view error,
                     std::optional<wall_time> next) override {
        change(id, [&](row& one) {
            if (one.what.retry_count < std::numeric_limits<std::int32_t>::max())
                ++one.what.retry_count;
            one.what.error = error;
            one.is_done = !next;
            one.next = next.value_or(one.next);
        });
    }
    void make_pending(const uuid& id) {
        change(id, [](row& one) {
            one.what.retry_count = 0;
            one.next = wall_time::min();
            one.is_done = false;
        });
    }

private:
    struct row {
        own_message what;
        wall_time next;
        bool is_done;  // Published, or given up.
    };

    template <class Change>
    void change(const uuid& id, Change how) {
        const std::scoped_lock lock(mutex_);
        const auto at = std::ranges::find(rows_, id, [](const row& one) { return one.what.id; });
        if (at != rows_.end()) how(*at);
    }

    std::mutex mutex_;
    std::vector<row> rows_;
};

class memory_inbox final : public own_inbox {
public:
    bool exists(std::string_view source, const uuid& id) override {
        const std::scoped_lock lock(mutex_);
        return processed_.contains({std::string(source), id});
    }
    void mark_processed(std::string_view source, const uuid& id, wall_time at) override {
        const std::scoped_lock lock(mutex_);
        processed_.emplace(std::pair(std::string(source), id), at);
    }
    std::size_t forget(wall_time before) override {
        const std::scoped_lock lock(mutex_);
        return std::erase_if(processed_, [&](const auto& one) { return one.second < before; });
    }

private:
    std::mutex mutex_;
    std::map<std::pair<std::string, uuid>, wall_time> processed_;
};

class memory_dead_letters final : public own_dead_letters {
public:
    explicit memory_dead_letters(memory_outbox& outbox) : outbox_(outbox) {}

    void add(const own_message& what, wall_time) override {
        const std::scoped_lock lock(mutex_);
        if (find(what.id) == dead_.end()) dead_.push_back(what);
    }
    std::vector<own_message> list(std::size_t limit) override {
        const std::scoped_lock lock(mutex_);
        return {dead_.begin(),
                dead_.begin() + static_cast<std::ptrdiff_t>(std::min(limit, dead_.size()))};
    }
    bool requeue(const uuid& id) override {
        const std::scoped_lock lock(mutex_);
        if (!take(id)) return false;
        outbox_.make_pending(id);
        return true;
    }
    bool resolve(const uuid& id, std::string_view) override {
        const std::scoped_lock lock(mutex_);
        return take(id);
    }
    bool remove(const uuid& id) override {
        const std::scoped_lock lock(mutex_);
        return take(id);
    }

private:
    std::vector<own_message>::iterator find(const uuid& id) {
        return std::ranges::find(dead_, id, &own_message::id);
    }
    bool take(const uuid& id) {
        const auto at = find(id);
        if (at == dead_.end()) return false;
        dead_.erase(at);
        return true;
    }

    memory_outbox& outbox_;
    std::mutex mutex_;
    std::vector<own_message> dead_;
};

}  // namespace

std::unique_ptr<own_outbox> make_memory_outbox() { return std::make_unique<memory_outbox>(); }

std::unique_ptr<own_inbox> make_memory_inbox() { return std::make_unique<memory_inbox>(); }

std::unique_ptr<own_dead_letters> make_memory_dead_letters(own_outbox& outbox) {
    auto* const in_memory = dynamic_cast<memory_outbox*>(&outbox);
    if (in_memory == nullptr)
        throw error(error_code::invalid_argument,
                    "dead letters in memory are of an outbox in memory; requeue() of an outbox of "
                    "your own is yours to write");
    return std::make_unique<memory_dead_letters>(*in_memory);
}

}  // namespace posthorn
