#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "store/rows/or_null.hpp"
#include "store/rows/stored_time.hpp"
#include "store/rules/dead_letter_rules.hpp"
#include "store/statements/dead_letter_rows_sql.hpp"
#include "store/swallowed.hpp"

namespace posthorn {

/// The statements of messages that were given up, inside a write transaction. A store gives what the
/// transaction has beside them: `changes`, where they are logged, `closed`, the
/// account of them, and `keys`, which knows who waits for whom.
///
/// Lifetime: as its connection, and that of its neighbours.
/// Threads:  the writer's.
template <class Driver, class Neighbours>
class dead_letter_rows final : public dead_letter_rules {
public:
    dead_letter_rows(typename Driver::connection& database, const message_limits& limits,
                     const Neighbours& others,
                     const dead_letter_rows_sql& texts = dead_letter_rows_texts)
        : dead_letter_rules(limits),
          with_(others),
          by_id_(database, texts.by_id),
          by_seq_(database, texts.by_seq),
          keys_(database, texts.keys),
          whole_(database, texts.whole),
          requeue_(database, texts.requeue),
          note_(database, texts.note),
          old_id_(database, texts.old_id),
          renew_(database, texts.renew),
          resolve_(database, texts.resolve),
          reopen_(database, texts.reopen),
          remove_(database, texts.remove),
          expire_(database, texts.expire),
          ended_(database, texts.ended),
          reseal_(database, texts.reseal),
          edit_(database, texts.edit) {}

    result<std::int64_t> group_some(std::size_t limit) override {
        return with_.closed.group_some(limit);
    }

private:
    /// The row was there a moment ago, in this transaction.
    static result<> require_change(result<typename Driver::rows> done) {
        if (!done) return std::unexpected(std::move(done).error());
        if (done->changed() == 0) return swallowed("outbox_messages");
        return {};
    }
    template <class Key>
    static result<bool> visit_one(typename Driver::statement& query, const Key& key,
                                  const row_visitor& visit) {
        POSTHORN_LET(found, query.run(key));
        if (found.empty()) return false;
        visit(found.front());
        return true;
    }
    result<bool> visit_by_id(const uuid& id, const row_visitor& visit) override {
        return visit_one(by_id_, id, visit);
    }
    result<bool> visit_by_seq(std::int64_t seq, const row_visitor& visit) override {
        return visit_one(by_seq_, seq, visit);
    }
    result<bool> visit_keys(std::int64_t seq, const row_visitor& visit) override {
        return visit_one(keys_, seq, visit);
    }
    result<bool> visit_whole(std::int64_t seq, const row_visitor& visit) override {
        return visit_one(whole_, seq, visit);
    }

    result<> write(std::int64_t seq, const message& body) override {
        return require_change(edit_.run(seq, body.destination, body.endpoint,
                                        Driver::payload(body.payload), body.content_type,
                                        or_null(body.headers), std::int64_t{body.max_retries}));
    }
    result<> make_pending(std::int64_t seq) override { return require_change(requeue_.run(seq)); }
    result<> place(std::int64_t seq) override { return with_.keys.place(seq); }
    result<> give_new_id(std::int64_t seq, const new_life& life) override {
        POSTHORN_TRY(Driver::soon(old_id_, seq, to_ms(life.from)));
        return require_change(renew_.run(seq, to_ms(life.from), std::int64_t{life.lasts.count()}));
    }
    result<> note(std::int64_t seq, std::string_view text, wall_time at) override {
        const auto kept = Driver::storable(text);
        POSTHORN_TRY(note_.run(seq, to_ms(at), std::string_view(kept)));
        return {};
    }
    result<> make_resolved(std::int64_t seq, std::string_view resolution) override {
        const auto text = Driver::storable(resolution);
        return require_change(resolve_.run(seq, or_null(text)));
    }
    result<> make_dead(std::int64_t seq) override { return require_change(reopen_.run(seq)); }
    result<> erase(std::int64_t seq) override { return require_change(remove_.run(seq)); }
    result<bool> make_expired(std::int64_t seq, wall_time now) override {
        POSTHORN_LET(expired, expire_.run(seq, to_ms(now)));
        if (expired.changed() == 0) return false;
        POSTHORN_TRY(Driver::soon(ended_, seq));
        return true;
    }
    result<> set_checksum(std::int64_t seq, std::int64_t sum) override {
        return require_change(reseal_.run(seq, sum));
    }
    result<> record_closed(std::int64_t seq, outbox_status status, wall_time at) override {
        return with_.closed.record(seq, status, at);
    }
    result<> release_next(const order_scope& of) override { return with_.keys.let_go(of); }
    result<> log(std::string_view kind, std::vector<std::int64_t> seqs, wall_time at) override {
        return with_.changes.append(kind, std::move(seqs), at);
    }

    Neighbours with_;
    typename Driver::statement by_id_;
    typename Driver::statement by_seq_;
    typename Driver::statement keys_;
    typename Driver::statement whole_;
    typename Driver::statement requeue_;
    typename Driver::statement note_;
    typename Driver::statement old_id_;
    typename Driver::statement renew_;
    typename Driver::statement resolve_;
    typename Driver::statement reopen_;
    typename Driver::statement remove_;
    typename Driver::statement expire_;
    typename Driver::statement ended_;
    typename Driver::statement reseal_;
    typename Driver::statement edit_;
};

}  // namespace posthorn
