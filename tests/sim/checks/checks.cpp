#include "sim/checks/checks.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "sim/checks/payloads.hpp"

namespace posthorn::sim {
namespace {

// Invariants 1, 2 and 6: of what the sender was told. A restore has told it otherwise since, of
// what came after the backup alone.
void check_promises(const pictures& all, ledger& book) {
    for (const auto& [service, id] : book.promises())
        if (!all.at(service).outbox.contains(id))
            book.violate("invariant 1: its sender was told that it is on disk; it is lost", id);
    for (const auto& [service, links] : book.links()) {
        const auto& chain = all.at(service).chain;
        for (const auto& link : links) {
            const auto place = static_cast<std::size_t>(link.number - 1);
            if (place >= chain.size() || chain[place] != link)
                book.violate(fmt::format("invariant 6: link {} of the chain of {} is lost",
                                         link.number, service));
        }
    }
    for (const auto& id : book.refusals())
        for (const auto& [service, seen] : all)
            if (seen.outbox.contains(id) || seen.effects.contains(id))
                book.violate("invariant 2: its sender was told that it is not stored", id);
}

// Outcomes are recorded by who may record them, each once: neither a node that has died nor one
// whose epoch is over adds to what a message is charged with, or settles it.
void check_attempts(const uuid& id, const outgoing& row, ledger& book) {
    const auto found = book.tries().find(id);
    const auto tried = found == book.tries().end() ? ledger::attempts{} : found->second;
    if (row.charged > tried.failed)
        book.violate(fmt::format("attempts: it is charged with {}, and {} failed that count ({} of "
                                 "nodes whose time was over)",
                                 row.charged, tried.failed, tried.in_vain),
                     id);
    if (row.status == "Sent" && !tried.acked)
        book.violate("attempts: it is sent, and no node that may say so was told so", id);
}

// Invariant 1: sent means effective, once.
void check_effect(const pictures& all, const picture& from, const uuid& id, const outgoing& row,
                  ledger& book, tally& count) {
    if (!is_transactional(row.endpoint)) {
        if (row.status == "Sent" && !book.outside().contains(id))
            book.violate("invariant 1: it is sent and its external handler never ran", id);
        return;
    }
    const auto effects = all.at(row.destination).effects.count(id);
    if (effects > 1) book.violate(fmt::format("invariant 1: it took effect {} times", effects), id);
    if (row.status != "Sent" || effects > 0) return;
    // It had taken effect when its receiver was restored to what it was before; it was past its
    // time when it should have been sent again, and `outbox replay` says so to whoever runs it.
    if (book.was_restored(row.destination) && book.was_acknowledged(id) &&
        row.expires_at <= from.latest)
        ++count.lapsed;
    else
        book.violate("invariant 1: it is sent and without effect", id);
}

void check_outgoing(const pictures& all, const picture& from, ledger& book, tally& count) {
    for (const auto& [id, row] : from.outbox) {
        ++count.messages;
        count.sent += row.status == "Sent";
        count.dead += row.status == "Dead";
        count.expired += row.status == "Expired";
        count.pending += row.status == "Pending";
        if (row.status == "Pending") book.violate("invariant 7: it is still pending", id);
        if (!row.cause.empty() && !row.is_for_workflow) {
            const auto [first, last] = from.effects.equal_range(id_of(row.cause));
            if (std::none_of(first, last,
                             [&](const auto& one) { return one.second.sent == id.to_string(); }))
                book.violate("invariant 2: the effect that sent it on is not there", id);
        }
        if (!row.is_for_workflow) check_effect(all, from, id, row, book, count);
        check_attempts(id, row, book);
    }
}

void check_incoming(const pictures& all, const picture& at, ledger& book, tally& count) {
    for (const auto& [id, seen] : at.effects) {
        ++count.effects;
        if (!all.at(seen.source).outbox.contains(id)) {
            // Its sender was restored to what it was before it sent this.
            if (book.was_forgotten(id))
                ++count.forgotten;
            else
                book.violate("invariant 2: it took effect and was never sent", id);
        }
        if (!seen.sent.empty() && !at.outbox.contains(id_of(seen.sent)))
            book.violate("invariant 1: what its handler sent on is lost: " + seen.sent, id);
        if (at.responses.contains(id)) continue;
        // Past its horizon nobody needs to know it any more.
        if (seen.expires_at < at.latest)
            ++count.purged;
        else
            book.violate("invariant 1: it took effect and the inbox does not know", id);
    }
    for (const auto& [id, response] : at.responses) {
        const auto first = book.responses().find(id);
        if (first != book.responses().end() && first->second != response)
            book.violate("invariant 5: the response kept is not the one that was given", id);
    }
}

using ordered_ids = std::map<std::int64_t, uuid>;  // By seq.

// Invariant 4. What a person requeued, replayed late or closed is not in order any more, what was
// given up may have taken effect late, and what a restored sender had forgotten and sent once more
// took effect when it was first sent.
void check_key(const pictures& all, const picture& from, const ordered_ids& key, ledger& book) {
    std::int64_t last = 0;
    uuid last_id;
    std::optional<uuid> given_up;
    for (const auto& [seq, id] : key) {
        const auto& row = from.outbox.at(id);
        if (row.status == "Sent" && given_up && !from.lets_pass) {
            book.violate("invariant 4: it passed one of its order key that was given up", id);
            book.violate("invariant 4: it was given up, and passed", *given_up);
        }
        // One that had taken effect, and was replayed in vain to a restored receiver, stopped
        // nobody.
        const bool came_first = book.was_restored(row.destination) && book.was_acknowledged(id);
        if ((row.status == "Dead" || row.status == "Expired") && !came_first) given_up = id;
        if (row.status != "Sent" || book.touches().contains(id) || book.was_forgotten(id)) continue;
        const auto& effects = all.at(row.destination).effects;
        const auto found = effects.find(id);
        if (found == effects.end()) continue;
        if (found->second.place < last) {
            book.violate("invariant 4: it took effect before an earlier one of its order key", id);
            book.violate("invariant 4: it took effect after a later one of its order key", last_id);
            continue;
        }
        last = found->second.place;
        last_id = id;
    }
}

void check_order(const pictures& all, const picture& from, ledger& book) {
    std::map<std::array<std::string, 3>, ordered_ids> keys;
    for (const auto& [id, row] : from.outbox)
        if (!row.order_key.empty())
            keys[{row.destination, row.tenant, row.order_key}].emplace(row.seq, id);
    for (const auto& [scope, key] : keys) check_key(all, from, key, book);
}

// Of what the outside world has seen: handlers that ran, and ACKs.
void check_seen(const pictures& all, ledger& book) {
    for (const auto& [id, times] : book.outside())
        if (!book.was_forgotten(id) && std::ranges::none_of(all, [&](const auto& one) {
                return one.second.outbox.contains(id);
            }))
            book.violate("invariant 2: its external handler ran and it was never sent", id);
    const auto is_for_workflow = [&](const uuid& id) {
        return std::ranges::any_of(all, [&](const auto& one) {
            const auto found = one.second.outbox.find(id);
            return found != one.second.outbox.end() && found->second.is_for_workflow;
        });
    };
    for (const auto& [id, response] : book.responses())
        if (!book.outside().contains(id) &&
            std::ranges::none_of(
                all, [&](const auto& one) { return one.second.effects.contains(id); }) &&
            !is_for_workflow(id) && !book.was_forgotten(id))
            book.violate("invariant 3: it was acknowledged and its effect is lost", id);
}

}  // namespace

tally& tally::operator+=(const tally& other) {
    messages += other.messages;
    sent += other.sent;
    dead += other.dead;
    expired += other.expired;
    pending += other.pending;
    effects += other.effects;
    purged += other.purged;
    forgotten += other.forgotten;
    lapsed += other.lapsed;
    return *this;
}

tally check_invariants(const pictures& all, ledger& book) {
    tally count;
    check_promises(all, book);
    for (const auto& [service, seen] : all) {
        check_outgoing(all, seen, book, count);
        check_incoming(all, seen, book, count);
        check_order(all, seen, book);
    }
    check_seen(all, book);
    return count;
}

}  // namespace posthorn::sim
