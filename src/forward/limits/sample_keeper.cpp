#include "forward/limits/sample_keeper.hpp"

#include <array>
#include <charconv>
#include <utility>

#include "forward/forward_terms.hpp"
#include "store/async.hpp"

namespace posthorn {
namespace {

constexpr std::chrono::seconds look_at_samples_every{1};
constexpr std::int64_t samples_at_once = 5000;

/// Counts a sample that was thinned out, once that is on disk.
class thin_record final : public detail::settle_rider {
public:
    thin_record(forward_activity what, const sample_keeper::deps& with)
        : what_(std::move(what)), counters_(with.counters), desk_(with.desk) {}

    void amend(const outbox_row& /*row*/, settlement& /*to*/) override {}
    result<> ride(store_transaction& tx, const settlement& to) override {
        waits_ = false;
        const std::array<sql_param, 1> which{to.seq};
        return tx.query("SELECT 1 FROM forward_messages WHERE seq = ? AND status = 0", which,
                        [this](const sql_row&) { waits_ = true; });
    }
    void landed(const settlement& /*to*/) override {
        if (!waits_) return;
        ++counters_.thinned;
        desk_.tell(what_);
    }
    [[nodiscard]] bool is_awaited() const override { return false; }

private:
    forward_activity what_;
    forward_counters& counters_;
    const forward_desk& desk_;
    bool waits_ = false;
};

double value_of(std::string_view text) {
    double value = 0;
    std::from_chars(text.begin(), text.end(), value);
    return value;
}

result<std::vector<waiting_sample>> read_samples(store_reader& from, const target_replay& target,
                                                 std::int64_t after) {
    std::vector<waiting_sample> page;
    const std::array<sql_param, 4> with{std::string_view(target.category),
                                        std::string_view(target.target), after, samples_at_once};
    POSTHORN_TRY(
        from.query("SELECT said.seq, held.id, sample_key, value FROM forward_samples AS said"
                   " JOIN forward_messages AS held ON held.seq = said.seq"
                   " WHERE said.category = ? AND said.target = ? AND said.seq > ?"
                   " AND held.status = 0 ORDER BY said.seq LIMIT ?",
                   with, [&](const sql_row& row) {
                       page.push_back({.seq = row.integer(0),
                                       .id = std::string(row.text(1)),
                                       .key = std::string(row.text(2)),
                                       .value = value_of(row.text(3))});
                   }));
    return page;
}

}  // namespace

task<> sample_keeper::run() {
    while (co_await with_.env.timer.sleep_for(look_at_samples_every)) co_await look();
}

task<> sample_keeper::look() {
    std::map<std::string, sample_sieve> still_out;
    for (const auto& target : targets_behind(with_.outbox)) {
        if (target.phase != replay_phase::outage) continue;
        const auto* const by = with_.desk.find(target.category);
        if (by == nullptr || !thins(by->how)) continue;
        auto destination = forward_destination({target.category, target.target});
        auto known = sieves_.extract(destination);
        auto& sieve =
            still_out
                .try_emplace(destination, known.empty() ? sample_sieve(by->how) : known.mapped())
                .first->second;
        co_await look_at(target, sieve);
    }
    sieves_ = std::move(still_out);
}

task<> sample_keeper::look_at(const target_replay& target, sample_sieve& sieve) {
    std::vector<waiting_sample> page;
    const auto seen =
        co_await read(with_.where, with_.env.readers, [&](store_reader& from) -> result<> {
            POSTHORN_LET(some, read_samples(from, target, sieve.last()));
            page = std::move(some);
            return {};
        });
    if (!seen) co_return;
    drop_order order{.destination = forward_destination({target.category, target.target}),
                     .rows = {}};
    for (const auto& [which, why] : sieve.thin(page))
        order.rows.push_back({.seq = which.seq,
                              .why = std::string(why),
                              .rider = std::make_shared<thin_record>(
                                  forward_activity{.what = "Thinned",
                                                   .id = uuid::parse(which.id).value_or(uuid{}),
                                                   .category = target.category,
                                                   .target = target.target,
                                                   .error = std::string(why)},
                                  with_)});
    if (!order.rows.empty()) with_.drops.add(std::move(order));
}

}  // namespace posthorn
