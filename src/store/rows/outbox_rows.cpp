#include "store/rows/outbox_rows.hpp"

#include <array>
#include <limits>

#include "base/checksum.hpp"
#include "base/planted.hpp"
#include "store/rows/stored_time.hpp"

namespace posthorn {
namespace {

result<std::optional<uuid>> optional_id(const sql_row& row, std::size_t column,
                                        std::string_view name) {
    if (row.is_null(column)) return std::nullopt;
    if (auto id = uuid::parse(row.text(column))) return id;
    return fail(error_code::invalid_argument, "{} '{}' is not a UUID", name,
                row.text(column).substr(0, 64));
}

// A number that any program may have written.
result<std::int32_t> number_in(const sql_row& row, std::size_t column, std::string_view name,
                               std::int32_t least) {
    // One less than there are: attempts are counted on from here.
    constexpr auto most = std::numeric_limits<std::int32_t>::max() - 1;
    const auto value = row.integer(column);
    if (row.kind(column) != sql_kind::integer || value < least || value > most)
        return fail(error_code::invalid_argument, "{} is not a number from {} to {}", name, least,
                    most);
    return static_cast<std::int32_t>(value);
}

}  // namespace

result<outbox_row> read_row(const sql_row& row, const std::string& source) {
    outbox_row read;
    read.seq = row.integer(0);
    message& body = read.body;
    const auto id = uuid::parse(row.text(1));
    if (!id)
        return fail(error_code::invalid_argument, "message_id '{}' is not a UUID",
                    row.text(1).substr(0, 64));
    body.id = *id;
    const auto type = parse_message_type(row.text(2));
    if (!type)
        return fail(error_code::invalid_argument,
                    "message_type '{}' is not one of Signal, Command, PushCall, Response",
                    row.text(2).substr(0, 64));
    body.type = *type;
    body.source = source;
    body.destination = row.text(3);
    body.endpoint = row.text(4);
    body.payload = row.text(5);
    body.content_type = row.text(6);
    body.headers = row.text(7);
    body.correlation_id = row.text(8);
    body.tenant = row.text(9);
    body.order_key = row.text(10);
    body.dedupe_key = row.text(11);
    POSTHORN_LET(parent, optional_id(row, 12, "parent_id"));
    body.parent_id = parent;
    POSTHORN_LET(causation, optional_id(row, 13, "causation_id"));
    body.causation_id = causation;
    POSTHORN_LET(priority,
                 number_in(row, 14, "priority", std::numeric_limits<std::int32_t>::min()));
    body.priority = priority;
    POSTHORN_LET(max_retries, number_in(row, 15, "max_retries", -1));
    body.max_retries = max_retries;
    body.created_at = from_ms(row.integer(16));
    body.expires_at = from_ms(row.integer(17));
    if (!row.is_null(18)) body.deliver_at = from_ms(row.integer(18));
    POSTHORN_LET(attempts, number_in(row, 19, "retry_count", 0));
    read.attempts = attempts;
    if (!row.is_null(20) && row.integer(20) != checksum_of(body))
        return fail(error_code::store_corrupt,
                    "the row is not what was stored: the disk has changed it; run 'posthorn "
                    "doctor', and send anew what it meant");
    if (POSTHORN_PLANTED(retry_with_a_new_id)) {  // The first attempt is made of what was sent.
        auto bytes = body.id.bytes();
        bytes.back() = static_cast<std::uint8_t>(bytes.back() + read.attempts + 1);
        body.id = uuid(bytes);
    }
    return read;
}

std::int64_t checksum_of(const message& body) {
    checksum sum;
    std::array<char, 36> id{};
    body.id.format_to(id);
    sum.add(std::string_view(id.data(), id.size()));
    for (const auto field :
         {to_string(body.type), std::string_view(body.destination), std::string_view(body.endpoint),
          std::string_view(body.payload), std::string_view(body.content_type),
          std::string_view(body.headers), std::string_view(body.correlation_id),
          std::string_view(body.tenant), std::string_view(body.order_key)})
        sum.add(field);
    for (const auto& one : {body.parent_id, body.causation_id})
        sum.add(one ? one->to_string() : std::string());
    sum.add(std::int64_t{to_ms(body.created_at)});
    sum.add(std::int64_t{to_ms(body.expires_at)});
    return sum.value();
}

outbox_row read_what_can_be(const sql_row& row, const std::string& source) {
    outbox_row read;
    read.seq = row.integer(0);
    read.body.source = source;
    read.body.id = uuid::parse(row.text(1)).value_or(uuid{});
    read.body.destination = row.text(3);
    read.body.endpoint = row.text(4);
    read.body.payload = row.text(5);
    read.body.content_type = row.text(6);
    read.attempts = number_in(row, 19, "retry_count", 0).value_or(0);
    return read;
}

result<enqueued> read_known(const sql_row& row) {
    const auto id = uuid::parse(row.text(1));
    if (!id)
        return fail(
            error_code::invalid_argument,
            "the dedupe key belongs to row {} of the outbox, whose id is not a UUID; mend or "
            "delete that row",
            row.integer(0));
    return enqueued{.seq = row.integer(0), .id = *id, .repeated = true};
}

error duplicate_of(const message& body) {
    return {error_code::duplicate_id,
            fmt::format("message {} is in the outbox already; it was stored before, do not send it "
                        "again under this id",
                        body.id.to_string())};
}

}  // namespace posthorn
