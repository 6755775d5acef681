#include "unit/outbox/memory_store.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace posthorn::test {
namespace {

std::unexpected<error> not_here() {
    return fail(error_code::statement_failed, "the memory store does not know this");
}

}  // namespace

class memory_store::transaction final : public store_transaction,
                                        public outbox_table,
                                        public lease_table,
                                        public claim_table,
                                        public old_rows {
public:
    explicit transaction(memory_tables& tables) : tables_(tables) {}

    result<std::int64_t> execute(std::string_view, std::span<const sql_param>) override {
        return not_here();
    }
    result<> query(std::string_view, std::span<const sql_param>, const row_visitor&) override {
        return not_here();
    }
    outbox_table& outbox() override { return *this; }
    inbox_table& inbox() override { assertion_failed("no inbox here"); }
    lease_table& leases() override { return *this; }
    dead_letter_table& dead_letters() override { assertion_failed("no dead letters here"); }
    old_rows& old() override { return *this; }
    result<> run(std::string_view, std::span<const sql_param>) override { return not_here(); }
    result<> take_turn(std::string_view, std::string_view) override { return {}; }

    result<outbox_page> claim(const due_question&, std::int64_t) override { return not_here(); }
    result<taken_in> take_in(const arrivals_question&) override { return not_here(); }
    result<> let_go(std::span<const std::int64_t>, std::int64_t) override { return not_here(); }
    result<std::vector<seat>> seats() override { return tables_.seats; }

    result<enqueued> insert(message&&) override { return not_here(); }
    result<bool> requeue(const uuid&) override { return false; }
    result<bool> pause(const paused_destination& what) override {
        return tables_.paused.emplace(what.destination, what).second;
    }
    result<bool> resume(std::string_view destination) override {
        return tables_.paused.erase(std::string(destination)) > 0;
    }
    result<bool> mark_notified(std::int64_t) override { return false; }
    result<slice_outcome> purge(row_kind kind, wall_time before, const slice&) override {
        tables_.purges.push_back({kind, before});
        if (tables_.slices_left == 0) return slice_outcome{};
        --tables_.slices_left;
        return slice_outcome{.rows = 1, .more = true};
    }
    result<slice_outcome> shorten_received(std::chrono::milliseconds, wall_time,
                                           const slice&) override {
        return slice_outcome{};
    }
    result<slice_outcome> mend_beside(const slice& room) override {
        tables_.looks.push_back(room.rows());
        return slice_outcome{.rows = 1, .more = tables_.looks.size() % tables_.looks_to_end != 0};
    }
    result<slice_outcome> give_back(const slice&) override {
        ++tables_.given_back;
        return slice_outcome{};
    }
    result<> set_order_policy(order_policy) override { return {}; }
    result<std::int64_t> release_unblocked(std::span<const std::int64_t>) override { return 0; }
    result<std::int64_t> settle(std::span<const settlement> outcomes, std::int64_t epoch) override {
        if (epoch != tables_.epoch) return fail(error_code::lease_lost, "the epoch is over");
        for (const auto& one : outcomes)
            if (tables_.unwritable.contains(one.seq))
                return fail(error_code::statement_failed, "a trigger says no");
        ++tables_.settlings;
        std::int64_t changed = 0;
        for (const auto& one : outcomes) {
            auto& row = tables_.rows.at(one.seq);
            if (row.status != outbox_status::pending) continue;
            row.status = one.to;
            row.error = one.error;
            if (one.to == outbox_status::pending) row.next_attempt_at = one.next_attempt_at;
            if (one.charged) ++row.row.attempts;
            ++changed;
        }
        return changed;
    }

    result<std::optional<lease>> find(std::string_view) override { return tables_.holder; }
    result<std::optional<lease>> take(std::string_view, std::string_view owner,
                                      const std::optional<lease>& seen) override {
        if (tables_.holder != seen) return std::optional<lease>{};
        tables_.holder = lease{.owner = std::string(owner), .epoch = ++tables_.epoch, .beat = 0};
        return tables_.holder;
    }
    result<bool> beat(std::string_view, std::string_view owner, std::int64_t epoch) override {
        if (!is_held(owner, epoch)) return false;
        ++tables_.holder->beat;
        return true;
    }
    result<bool> release(std::string_view name, std::string_view owner,
                         std::int64_t epoch) override {
        if (tables_.seats_are_locked) return false;
        if (std::erase_if(tables_.seats, [&](const seat& one) {
                return one.name == name && one.held.owner == owner && one.held.epoch == epoch;
            }) > 0)
            return true;
        if (!is_held(owner, epoch)) return false;
        tables_.holder.reset();
        return true;
    }

private:
    bool is_held(std::string_view owner, std::int64_t epoch) const {
        return tables_.holder && tables_.holder->owner == owner && tables_.holder->epoch == epoch;
    }

    memory_tables& tables_;
};

claim_table& memory_store::claims_in(store_transaction& open) {
    return static_cast<transaction&>(open);
}

class memory_store::reader final : public store_reader, public outbox_reader {
public:
    explicit reader(memory_store& from) : from_(from) {}

    outbox_reader& outbox() override { return *this; }
    inbox_reader& inbox() override { assertion_failed("no inbox here"); }
    store_inspector& inspect() override { assertion_failed("nothing to look at here"); }
    dead_letter_reader& dead_letters() override { assertion_failed("no dead letters here"); }
    result<> query(std::string_view, std::span<const sql_param>,
                   const store_transaction::row_visitor&) override {
        return not_here();
    }

    result<std::vector<std::string>> due_destinations(wall_time now) override {
        ++from_.walks;
        std::set<std::string> names;
        for (const auto& [seq, one] : from_.tables.rows)
            if (is_due(one, now)) names.insert(one.row.body.destination);
        return std::vector(names.begin(), names.end());
    }
    result<outbox_page> due(const due_question& asked) override {
        ++from_.row_reads;
        std::vector<const memory_row*> found;
        for (const auto& [seq, one] : from_.tables.rows)
            if (is_due(one, asked.now) && one.row.body.destination == asked.destination &&
                !std::ranges::binary_search(asked.held, seq))
                found.push_back(&one);
        std::ranges::sort(found, {}, [](const memory_row* one) {
            return std::pair(one->next_attempt_at, one->row.seq);
        });
        if (asked.newest_first) std::ranges::reverse(found);
        outbox_page page;
        page.more = found.size() > asked.limit;
        found.resize(std::min(found.size(), asked.limit));
        std::size_t bytes = 0;
        for (const auto* one : found) {
            if (bytes > 0 && bytes >= asked.bytes_max) {
                page.more = true;
                break;
            }
            bytes += bytes_of(one->row);
            if (one->bad.empty())
                page.rows.push_back(one->row);
            else
                page.bad.push_back({one->row.seq, one->bad, bytes_of(one->row)});
        }
        return page;
    }
    result<std::optional<wall_time>> next_due() override {
        std::optional<wall_time> next;
        for (const auto& [seq, one] : from_.tables.rows)
            if (one.status == outbox_status::pending)
                next = next ? std::min(*next, one.next_attempt_at) : one.next_attempt_at;
        return next;
    }
    result<std::optional<outbox_row>> find(const uuid&) override { return not_here(); }
    result<std::optional<outbox_status>> status(const uuid&) override { return not_here(); }
    result<outbox_counts> counts() override { return not_here(); }
    result<expired_slice> expired(const expired_question& asked) override {
        expired_slice slice;
        std::size_t looked = 0;
        for (const auto& [seq, one] : from_.tables.rows) {
            if (!is_due(one, asked.now) || one.row.body.destination != asked.destination) continue;
            if (asked.after && seq <= asked.after->seq) continue;
            if (one.row.body.expires_at <= asked.now) slice.rows.push_back(one.row);
            slice.last = pending_place{.tenant = {}, .seq = seq};
            if (++looked == asked.rows_max) return slice;
        }
        slice.last.reset();
        return slice;
    }
    result<std::vector<paused_destination>> paused() override {
        std::vector<paused_destination> all;
        for (const auto& [destination, one] : from_.tables.paused) all.push_back(one);
        return all;
    }
    result<std::vector<final_row>> ended(std::int64_t, std::size_t) override { return not_here(); }
    result<order_policy> present_order_policy() override { return order_policy::park; }
    result<unblocked_slice> unblocked(const std::optional<order_scope>&, std::size_t) override {
        return unblocked_slice{};
    }

private:
    static bool is_due(const memory_row& one, wall_time now) {
        return one.status == outbox_status::pending && one.next_attempt_at <= now;
    }

    memory_store& from_;
};

result<> memory_store::read(const std::function<result<>(store_reader&)>& look) {
    ++reads;
    reader snapshot(*this);
    return look(snapshot);
}

void memory_store::run() {
    if (running_) return;  // A unit's `done` submitted another.
    running_ = true;
    const auto eager = [](const unit& one) { return !one.lazy; };
    while (!held_ && std::ranges::any_of(queue_, eager)) commit_group();
    running_ = false;
}

void memory_store::commit_group() {
    auto group = std::exchange(queue_, {});
    std::optional<error> broken;
    if (!failures.empty()) {
        broken = failures.front();
        failures.pop_front();
    } else {
        ++commits;
    }
    std::vector<result<>> outcomes;
    for (auto& one : group) {
        if (broken && !broken->is_in_doubt()) {
            outcomes.push_back(std::unexpected(*broken));
            continue;
        }
        auto changed = tables;
        transaction tx(changed);
        outcomes.push_back(one.work(tx));
        if (outcomes.back()) tables = std::move(changed);
        if (broken) outcomes.back() = std::unexpected(*broken);
    }
    for (std::size_t i = 0; i < group.size(); ++i) group[i].done(std::move(outcomes[i]));
}

std::int64_t memory_store::insert(message body, memory_row with) {
    with.row.seq = tables.rows.empty() ? 1 : tables.rows.rbegin()->first + 1;
    with.next_attempt_at = body.deliver_at.value_or(body.created_at);
    with.row.body = std::move(body);
    const auto seq = with.row.seq;
    tables.rows.emplace(seq, std::move(with));
    return seq;
}

std::int64_t memory_store::send(message body) {
    body.created_at = time_.wall();
    const auto seq = insert(std::move(body), {});
    ++commits;
    if (taker_ != nullptr) taker_->committed({tables.rows.at(seq).row});
    return seq;
}

std::int64_t memory_store::write_foreign(message body, std::string bad) {
    body.created_at = time_.wall();
    foreign_ = true;
    return insert(std::move(body), {.row = {},
                                    .status = outbox_status::pending,
                                    .next_attempt_at = {},
                                    .error = {},
                                    .bad = std::move(bad),
                                    .synced = false});
}

}  // namespace posthorn::test
