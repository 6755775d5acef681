#include "forward/limits/buffer_keeper.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text/counted.hpp"
#include "forward/forward_terms.hpp"
#include "store/async.hpp"

namespace posthorn {
namespace {

constexpr std::chrono::seconds look_at_caps_every{1};
constexpr std::int64_t doomed_at_once = 1000;
constexpr std::chrono::minutes drops_remembered{10};

/// Tells of a message that was dropped, once that is on disk. What was closed by another before it
/// is not.
class drop_record final : public detail::settle_rider {
public:
    drop_record(forward_activity what, const buffer_keeper::deps& with)
        : what_(std::move(what)), with_(with) {}

    void amend(const outbox_row& /*row*/, settlement& /*to*/) override {}
    result<> ride(store_transaction& tx, const settlement& to) override {
        waits_ = false;
        const std::array<sql_param, 1> which{to.seq};
        return tx.query("SELECT 1 FROM forward_messages WHERE seq = ? AND status = 0", which,
                        [this](const sql_row&) { waits_ = true; });
    }
    void landed(const settlement& /*to*/) override {
        if (waits_) with_.counters.drops.note(what_, with_.env.clock.steady(), with_.desk);
    }
    [[nodiscard]] bool is_awaited() const override { return false; }

private:
    forward_activity what_;
    buffer_keeper::deps with_;
    bool waits_ = false;
};

forward_activity told_of(const held_work& work, const std::string& why) {
    return {.what = "Dropped",
            .id = uuid::parse(work.id).value_or(uuid{}),
            .category = work.category,
            .target = work.target,
            .error = why};
}

/// Those at the front that were stored before then. The clock of a row's writer may be another.
std::size_t older_than(std::span<const held_work> oldest, wall_time then) {
    const auto is_old = [&](const held_work& one) {
        return one.created_at < then.time_since_epoch().count();
    };
    return static_cast<std::size_t>(std::ranges::find_if_not(oldest, is_old) - oldest.begin());
}

}  // namespace

void drop_counts::note(const forward_activity& what, steady_time now, const forward_desk& desk) {
    {
        const std::scoped_lock lock(mutex_);
        ++dropped_[what.category];
        last_ = now;
    }
    desk.tell(what);
}

std::map<std::string, std::uint64_t> drop_counts::dropped() const {
    const std::scoped_lock lock(mutex_);
    return dropped_;
}

std::optional<steady_time> drop_counts::last() const {
    const std::scoped_lock lock(mutex_);
    return last_;
}

task<> buffer_keeper::run() {
    while (co_await with_.env.timer.sleep_for(look_at_caps_every)) {
        std::ignore = clocks_.jumped();  // It has to be asked regularly.
        co_await look();
    }
}

task<> buffer_keeper::look() {
    const auto rules = with_.desk.rules();
    if (!rules.any()) co_return;
    std::vector<doomed> all;
    const auto seen =
        co_await read(with_.where, with_.env.readers, [&](store_reader& from) -> result<> {
            POSTHORN_LET(found, find_doomed(from, rules));
            all = std::move(found);
            return {};
        });
    upkeep_.note("what has to go for a cap of [forward] cannot be found", seen);
    if (!seen) co_return;
    std::vector<doomed> parked;
    std::map<std::string, std::vector<doomed>> by_target;
    for (auto& one : all) {
        auto& place = one.work.parked
                          ? parked
                          : by_target[forward_destination({one.work.category, one.work.target})];
        place.push_back(std::move(one));
    }
    std::vector<drop_order> orders;
    for (const auto& [destination, some] : by_target)
        orders.push_back({destination, dropped_rows(some)});
    with_.drops.put(std::move(orders));
    if (!parked.empty()) co_await drop_parked(std::move(parked));
}

// Totals and rows are of one picture of the database: what was chosen and is not closed yet is
// chosen again, and not the next ones.
result<std::vector<buffer_keeper::doomed>> buffer_keeper::find_doomed(store_reader& from,
                                                                      const buffer_rules& rules) {
    std::vector<doomed> all;
    std::set<std::int64_t> known;
    const auto add = [&](std::span<const held_work> some, const std::string& why) {
        for (const auto& one : some)
            if (known.insert(one.seq).second) all.push_back({one, why});
    };
    const auto oldest_of = [&](const std::string& category) {
        return read_held(from, {.category = category, .limit = doomed_at_once});
    };
    POSTHORN_LET(totals, read_forward_totals(from));
    for (const auto& wish : wishes_of(rules, totals)) {
        POSTHORN_LET(oldest, oldest_of(wish.category));
        add(std::span(oldest).first(to_drop(wish, oldest)), wish.why);
    }
    // A clock that has jumped would make everything look old.
    const bool may_age = !clocks_.jumped();
    const auto age = [&](const std::string& category, const buffer_cap& cap) -> result<> {
        if (cap.age.count() == 0 || !may_age) return {};
        POSTHORN_LET(oldest, oldest_of(category));
        const auto count = older_than(oldest, with_.env.clock.wall() - cap.age);
        add(std::span(oldest).first(count), "dropped: it is older than max_age");
        return {};
    };
    POSTHORN_TRY(age({}, rules.whole));
    for (const auto& [category, cap] : rules.categories) POSTHORN_TRY(age(category, cap));
    const std::scoped_lock lock(mutex_);
    full_ = full_ones(rules, totals);
    return all;
}

std::vector<dropped_row> buffer_keeper::dropped_rows(std::span<const doomed> some) const {
    std::vector<dropped_row> rows;
    for (const auto& [work, why] : some)
        rows.push_back({.seq = work.seq,
                        .why = why,
                        .rider = std::make_shared<drop_record>(told_of(work, why), with_)});
    return rows;
}

task<> buffer_keeper::drop_parked(std::vector<doomed> some) {
    std::vector<const doomed*> gone;
    const auto done = co_await commit(with_.where, [&](store_transaction& tx) -> result<> {
        gone.clear();
        for (const auto& one : some) {
            const std::array<sql_param, 2> which{std::string_view(one.why), one.work.seq};
            POSTHORN_LET(changed, tx.execute("UPDATE outbox_messages SET status = 'Resolved',"
                                             " resolution = ? WHERE seq = ?"
                                             " AND (status = 'Dead' OR status = 'Expired')",
                                             which));
            if (changed > 0) gone.push_back(&one);
        }
        return {};
    });
    upkeep_.note("parked work cannot be closed for a cap of [forward]", done);
    if (!done) co_return;
    for (const auto* const one : gone)
        with_.counters.drops.note(told_of(one->work, one->why), with_.env.clock.steady(),
                                  with_.desk);
}

std::vector<health_worry> buffer_keeper::worries() const {
    auto all = upkeep_.worries();
    std::vector<std::string> full;
    {
        const std::scoped_lock lock(mutex_);
        full = full_;
    }
    if (with_.desk.rules().then == when_full::reject)
        for (const auto& each : full)
            all.push_back(
                {.what = fmt::format("as much work{}{} is held as may be, and more is refused; see "
                                     "'posthorn forward stats'",
                                     each.empty() ? "" : " of category ", each)});
    const auto last = with_.counters.drops.last();
    if (!last || with_.env.clock.steady() - *last > drops_remembered) return all;
    std::uint64_t dropped = 0;
    for (const auto& [category, count] : with_.counters.drops.dropped()) dropped += count;
    all.push_back({.what = fmt::format("{} dropped to keep within a cap of [forward]; see "
                                       "docs/operating/store-and-forward.md",
                                       counted(dropped, "operation was", "operations were"))});
    return all;
}

}  // namespace posthorn
