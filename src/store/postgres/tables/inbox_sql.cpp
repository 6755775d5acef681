#include "store/postgres/tables/inbox_sql.hpp"

#include <algorithm>
#include <tuple>

#include "base/assert.hpp"
#include "store/postgres/tables/outbox_rows.hpp"

namespace posthorn::postgres {
namespace {

using ordered_key = std::tuple<std::string_view, uuid>;

ordered_key key_of(const row_ahead& one) { return {one.source, one.id}; }
ordered_key key_of_record(const inbox_record* one) { return {one->key.source, one->key.id}; }

}  // namespace

inbox_sql::inbox_sql(connection& database)
    : inbox_changes(database), insert_all_(database, R"sql(
          INSERT INTO {s}.inbox_messages (source_service_id, message_id, endpoint, body_hash,
              processed_at, expires_at)
          SELECT source, id, endpoint,
              substring($4::bytea FROM (32 * (place - 1) + 1)::integer FOR 32), processed_at,
              expires_at
          FROM unnest($1::text[], $2::text[], $3::text[], $5::bigint[],
              $6::bigint[]) WITH ORDINALITY AS r(source, id, endpoint, processed_at,
              expires_at, place)
          ON CONFLICT (source_service_id, message_id) DO NOTHING
          RETURNING seq, source_service_id, message_id)sql") {}

// In the order of their keys, so that two nodes that insert the same ones wait for each other in
// turn and not both.
result<> inbox_sql::insert_ahead(std::span<const inbox_record> rows) {
    std::vector<const inbox_record*> sorted;
    for (const auto& each : rows) sorted.push_back(&each);
    std::ranges::sort(sorted, {}, key_of_record);
    std::vector<std::string> sources;
    std::vector<std::string> ids;
    std::vector<std::string> endpoints;
    std::vector<std::byte> hashes;
    std::vector<std::int64_t> processed_at;
    std::vector<std::int64_t> expires_at;
    for (const auto* const each : sorted) {
        if (!ahead_.empty() && key_of(ahead_.back()) == key_of_record(each)) continue;
        sources.emplace_back(each->key.source);
        ids.push_back(each->key.id.to_string());
        endpoints.emplace_back(each->endpoint);
        hashes.insert(hashes.end(), each->hash.begin(), each->hash.end());
        processed_at.push_back(to_ms(each->processed_at));
        expires_at.push_back(to_ms(each->expires_at));
        ahead_.push_back({.source = sources.back(), .id = each->key.id});
    }
    POSTHORN_LET(inserted,
                 insert_all_.run(sources, ids, endpoints, blob{hashes}, processed_at, expires_at));
    for (int i = 0; i < inserted.size(); ++i) {
        const auto row = inserted[i];
        const auto id = uuid::parse(row.text(2));
        auto* const one = id ? find_ahead({row.text(1), *id}) : nullptr;
        if (one == nullptr)
            return fail(error_code::statement_failed,
                        "a row of inbox_messages is not as it was inserted; remove the trigger "
                        "that changes its source or its id");
        one->seq = row.integer(0);
    }
    return {};
}

bool inbox_sql::end_ahead() {
    const bool has_orphan = std::ranges::any_of(
        ahead_, [](const row_ahead& each) { return each.seq != 0 && !each.is_taken; });
    ahead_.clear();
    return !has_orphan;
}

row_ahead* inbox_sql::find_ahead(const inbox_key& key) {
    const auto at = std::ranges::lower_bound(ahead_, std::tuple(key.source, key.id), {}, key_of);
    const bool is_there = at != ahead_.end() && key_of(*at) == std::tuple(key.source, key.id);
    return is_there ? &*at : nullptr;
}

result<bool> inbox_sql::insert(const inbox_record& record) {
    if (auto* const ahead = find_ahead(record.key); ahead != nullptr) {
        const bool is_new = ahead->seq != 0 && !std::exchange(ahead->is_taken, true);
        if (is_new) note_received(ahead->seq);
        return is_new;
    }
    return inbox_changes::insert(record);
}

}  // namespace posthorn::postgres
