#include "sim/checks.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "sim/disk_query.hpp"
#include "sim/machine.hpp"
#include "sim/workload.hpp"

namespace posthorn::sim {
namespace {

struct outgoing {
    std::string destination, endpoint, status, cause, tenant, order_key;
    std::int64_t seq = 0;
};

struct effect {
    std::string source, sent;
    std::int64_t place = 0;  // In the order of commits.
};

/// All of one service's database that matters here.
struct picture {
    std::map<uuid, outgoing> outbox;
    std::map<uuid, std::string> responses;  // Of what was processed.
    std::multimap<uuid, effect> effects;
    std::vector<chain_link> chain;
    bool lets_pass = false;  // Followers of an order key, when one was given up.
};

uuid id_of(const std::string& text) { return uuid::parse(text).value_or(uuid{}); }

picture read_all(const std::string& service, const fault_disk& disk, ledger& book) {
    picture seen;
    const auto ask = [&](const std::string& sql, const std::function<void(const plain_row&)>& row) {
        try {
            query_disk(disk, database_path, sql, row);
        } catch (const std::exception& why) {
            book.violate(fmt::format("{}: {}: {}", service, sql, why.what()));
        }
    };
    ask("PRAGMA integrity_check", [&](const plain_row& row) {
        if (row.text(0) != "ok") book.violate(service + " is damaged: " + row.text(0));
    });
    ask("SELECT message_id, destination, endpoint, status, causation_id, tenant, payload, seq"
        " FROM outbox_messages",
        [&](const plain_row& row) {
            seen.outbox[id_of(row.text(0))] = {row.text(1),  row.text(2), row.text(3),
                                               row.text(4),  row.text(5), order_key_in(row.text(6)),
                                               row.number(7)};
        });
    ask("SELECT 1 FROM posthorn_meta WHERE name = 'order_policy' AND value = 'pass'",
        [&](const plain_row&) { seen.lets_pass = true; });
    ask("SELECT message_id, response_payload FROM inbox_messages WHERE processed_at IS NOT NULL",
        [&](const plain_row& row) { seen.responses[id_of(row.text(0))] = row.text(1); });
    ask("SELECT message_id, source, sent, rowid FROM effects", [&](const plain_row& row) {
        seen.effects.emplace(id_of(row.text(0)), effect{row.text(1), row.text(2), row.number(3)});
    });
    std::uint64_t hash = hash_start;
    ask("SELECT number, tag, hash FROM chain ORDER BY number", [&](const plain_row& row) {
        hash = hash_text(hash, row.text(1));
        const chain_link found{row.number(0), static_cast<std::uint64_t>(row.number(2))};
        seen.chain.push_back(found);
        if (found != chain_link{static_cast<std::int64_t>(seen.chain.size()), hash})
            book.violate(
                fmt::format("invariant 6: the chain of {} breaks at {}", service, found.number));
    });
    return seen;
}

using pictures = std::map<std::string, picture>;

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

void check_outgoing(const pictures& all, const picture& from, ledger& book, tally& count) {
    for (const auto& [id, row] : from.outbox) {
        ++count.messages;
        count.sent += row.status == "Sent";
        count.dead += row.status == "Dead";
        count.expired += row.status == "Expired";
        count.pending += row.status == "Pending";
        if (row.status == "Pending") book.violate("invariant 7: it is still pending", id);
        if (!row.cause.empty()) {
            const auto [first, last] = from.effects.equal_range(id_of(row.cause));
            if (std::none_of(first, last,
                             [&](const auto& one) { return one.second.sent == id.to_string(); }))
                book.violate("invariant 2: the effect that sent it on is not there", id);
        }
        if (is_transactional(row.endpoint)) {
            const auto effects = all.at(row.destination).effects.count(id);
            if (effects > 1)
                book.violate(fmt::format("invariant 1: it took effect {} times", effects), id);
            if (row.status == "Sent" && effects == 0)
                book.violate("invariant 1: it is sent and without effect", id);
        } else if (row.status == "Sent" && !book.outside().contains(id)) {
            book.violate("invariant 1: it is sent and its external handler never ran", id);
        }
    }
}

void check_incoming(const pictures& all, const picture& at, ledger& book, tally& count) {
    for (const auto& [id, seen] : at.effects) {
        ++count.effects;
        if (!all.at(seen.source).outbox.contains(id))
            book.violate("invariant 2: it took effect and was never sent", id);
        if (!seen.sent.empty() && !at.outbox.contains(id_of(seen.sent)))
            book.violate("invariant 1: what its handler sent on is lost: " + seen.sent, id);
        if (!at.responses.contains(id))
            book.violate("invariant 1: it took effect and the inbox does not know", id);
    }
    for (const auto& [id, response] : at.responses) {
        const auto first = book.responses().find(id);
        if (first != book.responses().end() && first->second != response)
            book.violate("invariant 5: the response kept is not the one that was given", id);
    }
}

using ordered_ids = std::map<std::int64_t, uuid>;  // By seq.

// What a person requeued or closed is not in order any more, and what was given up may have taken
// effect late.
void check_key(const pictures& all, const picture& from, const ordered_ids& key, ledger& book) {
    std::int64_t last = 0;
    bool given_up = false;
    for (const auto& [seq, id] : key) {
        const auto& row = from.outbox.at(id);
        if (row.status == "Sent" && given_up && !from.lets_pass)
            book.violate("invariant 4: it passed one of its order key that was given up", id);
        given_up |= row.status == "Dead" || row.status == "Expired";
        if (row.status != "Sent" || book.touches().contains(id)) continue;
        const auto& effects = all.at(row.destination).effects;
        const auto found = effects.find(id);
        if (found == effects.end()) continue;
        if (found->second.place < last)
            book.violate("invariant 4: it took effect after a later one of its order key", id);
        last = std::max(last, found->second.place);
    }
}

void check_order(const pictures& all, const picture& from, ledger& book) {
    std::map<std::array<std::string, 3>, ordered_ids> keys;
    for (const auto& [id, row] : from.outbox)
        if (!row.order_key.empty())
            keys[{row.destination, row.tenant, row.order_key}].emplace(row.seq, id);
    for (const auto& [scope, key] : keys) check_key(all, from, key, book);
}

}  // namespace

tally& tally::operator+=(const tally& other) {
    messages += other.messages;
    sent += other.sent;
    dead += other.dead;
    expired += other.expired;
    pending += other.pending;
    effects += other.effects;
    return *this;
}

tally check_invariants(const std::map<std::string, const fault_disk*>& disks, ledger& book) {
    pictures all;
    for (const auto& [service, disk] : disks) all[service] = read_all(service, *disk, book);
    tally count;
    check_promises(all, book);
    for (const auto& [service, seen] : all) {
        check_outgoing(all, seen, book, count);
        check_incoming(all, seen, book, count);
        check_order(all, seen, book);
    }
    for (const auto& [id, times] : book.outside())
        if (std::ranges::none_of(all,
                                 [&](const auto& one) { return one.second.outbox.contains(id); }))
            book.violate("invariant 2: its external handler ran and it was never sent", id);
    // What was acknowledged took effect, whatever happened since.
    for (const auto& [id, response] : book.responses())
        if (!book.outside().contains(id) && std::ranges::none_of(all, [&](const auto& one) {
                return one.second.effects.contains(id);
            }))
            book.violate("invariant 3: it was acknowledged and its effect is lost", id);
    return count;
}

}  // namespace posthorn::sim
