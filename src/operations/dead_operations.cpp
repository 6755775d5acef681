#include "operations/dead_operations.hpp"

#include <optional>
#include <utility>

#include "base/async/run_on.hpp"
#include "store/async.hpp"

namespace posthorn {
namespace {

constexpr int group_slices_max = 40;  // The caller waits for them.

// One look at one snapshot, whose value goes out past the callback.
template <class T, class Ask>
result<T> look(store& where, Ask ask) {
    std::optional<T> found;
    POSTHORN_TRY(where.read([&](store_reader& from) -> result<> {
        POSTHORN_LET(value, ask(from));
        found.emplace(std::move(value));
        return {};
    }));
    return *std::move(found);
}

// One unit, whose value likewise goes out. It may run twice; the last run counts.
template <class T, class Work>
task<result<T>> change(store& where, Work work) {
    std::optional<T> given;
    POSTHORN_CO_TRY(co_await commit(where, [&](store_transaction& tx) -> result<> {
        POSTHORN_LET(value, work(tx.dead_letters()));
        given.emplace(std::move(value));
        return {};
    }));
    co_return *std::move(given);
}

result<dead_view> look_at(store_reader& from, const uuid& id, bool with_payload) {
    POSTHORN_LET(row, from.dead_letters().row(id));
    POSTHORN_LET(detail, from.inspect().show(id, with_payload));
    if (row && detail) return dead_view{*std::move(row), *std::move(detail)};
    return fail(error_code::not_found,
                "no message {} is in the outbox; it may have been purged or deleted",
                id.to_string());
}

result<dead_changed> apply(dead_letter_table& table, const uuid& id, const dead_request& asked,
                           wall_time now) {
    if (asked.verb != dead_verb::edit) return table.change(id, asked.how, now);
    auto edited = table.edit(id, asked.edit, asked.how.if_state, now);
    if (!edited || !asked.then_requeue) return edited;
    return table.change(id,
                        {.what = dead_action::requeue,
                         .new_id = asked.how.new_id,
                         .expires_in = asked.how.expires_in},
                        now);
}

}  // namespace

task<result<dead_page>> list_dead(dead_place at, dead_query asked) {
    co_return co_await run_on(at.readers, [&] {
        return look<dead_page>(at.where, [&](store_reader& from) {
            return from.dead_letters().list(asked.wanted, asked.before, asked.limit);
        });
    });
}

task<result<dead_groups>> group_dead(dead_place at, dead_query asked) {
    const auto read = [&] {
        return look<dead_groups>(at.where, [&](store_reader& from) {
            return from.dead_letters().groups(asked.wanted.destination, asked.limit);
        });
    };
    auto page = co_await run_on(at.readers, read);
    if (!page || page->ungrouped == 0) co_return page;
    std::int64_t grouped = dead_slice_rows;
    for (int i = 0; i < group_slices_max && grouped == dead_slice_rows; ++i) {
        POSTHORN_CO_LET(some, co_await change<std::int64_t>(at.where, [](dead_letter_table& table) {
                            return table.group_some(dead_slice_rows);
                        }));
        grouped = some;
    }
    co_return co_await run_on(at.readers, read);
}

task<result<dead_view>> show_dead(dead_place at, uuid id, bool with_payload) {
    co_return co_await run_on(at.readers, [&] {
        return look<dead_view>(at.where,
                               [&](store_reader& from) { return look_at(from, id, with_payload); });
    });
}

task<result<dead_changed>> change_dead(dead_place at, uuid id, dead_request asked) {
    co_return co_await change<dead_changed>(
        at.where, [&](dead_letter_table& table) { return apply(table, id, asked, at.now); });
}

task<result<dead_progress>> change_many_dead(dead_place at, dead_query asked, dead_request how) {
    // Found before the unit, so that the writer is held for the changes alone.
    auto slice = co_await run_on(at.readers, [&] {
        return look<dead_slice>(at.where, [&](store_reader& from) {
            return from.dead_letters().find(asked.wanted, asked.after, dead_slice_rows);
        });
    });
    if (!slice) co_return std::unexpected(std::move(slice).error());
    dead_progress progress{.next = slice->next, .highest = slice->highest};
    if (slice->seqs.empty()) co_return progress;
    progress.lowest = slice->seqs.front();
    const auto done = co_await change<dead_many>(at.where, [&](dead_letter_table& table) {
        return table.change_many(slice->seqs, asked.wanted, how.how, at.now);
    });
    if (!done) co_return std::unexpected(done.error());
    progress.done = *done;
    co_return progress;
}

}  // namespace posthorn
