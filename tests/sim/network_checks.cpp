// What is checked while messages are on their way; checks.cpp holds what is checked in the end.
#include <fmt/format.h>

#include "sim/disk_query.hpp"
#include "sim/machine.hpp"
#include "sim/network.hpp"

namespace posthorn::sim {

bool network::looks() {
    if (look_interval == 0 || dice_.below(look_interval) != 0) return false;
    ++seen_.looks;
    return true;
}

void network::check_leaving(process& from, const std::string& to, const message_batch& batch) {
    if (from.is_dead()) return;
    for (const auto* one : batch) {
        book_.note(one->id, fmt::format("{} sends it to {}", from.name(), to));
        remember(*one);
    }
    // What a process first sends is what it found, and perhaps nobody had synced that.
    if (!from.is_to_be_looked_at() && !looks()) return;
    const auto survivor = from.disk().clone_durable();
    plain_query database(*survivor, database_path);
    for (const auto* one : batch) {
        bool there = false;
        database.ask(fmt::format("SELECT 1 FROM outbox_messages WHERE message_id = '{}'",
                                 one->id.to_string()),
                     [&](const plain_row&) { there = true; });
        if (!there) book_.violate("invariant 2: it left its sender before it was on disk", one->id);
    }
}

void network::check_believed(process& from, const message_batch& batch,
                             const std::vector<delivery>& believed) {
    if (from.is_dead()) return;
    // An outcome counts only while its sender may record it: another node may have taken over.
    const bool counts = from.is_owner();
    for (std::size_t i = 0; i < batch.size(); ++i) book_.believed(*batch[i], believed[i], counts);
}

void network::check_answers(process& at, const message_batch& batch,
                            const std::vector<delivery>& given) {
    if (at.is_dead()) return;  // Nothing leaves it any more.
    bool delivers = false;
    for (std::size_t i = 0; i < given.size(); ++i) {
        book_.answered(*batch[i], given[i]);
        delivers |= given[i].what == outcome::delivered;
    }
    if (!delivers || !looks()) return;
    const auto survivor = at.disk().clone_durable();
    std::set<std::string> processed;
    query_disk(*survivor, database_path,
               "SELECT message_id FROM inbox_messages WHERE processed_at IS NOT NULL",
               [&](const plain_row& row) { processed.insert(row.text(0)); });
    for (std::size_t i = 0; i < given.size(); ++i) {
        if (given[i].what != outcome::delivered || processed.contains(batch[i]->id.to_string()))
            continue;
        // A repeat that was looked up just before its row was purged.
        if (given[i].duplicate && batch[i]->expires_at < at.clock().wall()) continue;
        book_.violate("invariant 3: its ACK left before its inbox row was on disk", batch[i]->id);
    }
}

}  // namespace posthorn::sim
