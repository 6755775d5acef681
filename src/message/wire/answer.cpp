#include "message/wire/answer.hpp"

#include <algorithm>
#include <array>

#include <posthorn/json/writer.hpp>

#include "base/text/base64.hpp"
#include "base/text/utf8.hpp"
#include "message/fields.hpp"
#include "message/json_check.hpp"
#include "message/wire/split.hpp"

namespace posthorn {
namespace {

enum field : std::uint8_t {
    acknowledged,
    duplicate,
    payload,
    error_text,
    code,
    retry_after,
    message_id,
    status,
    count
};

constexpr std::array<std::string_view, field::count> field_names{
    "acknowledged", "duplicateDetected", "payload",   "error",
    "code",         "retryAfterMs",      "messageId", "status",
};

constexpr std::size_t error_characters_max = 4000;
constexpr std::size_t answers_max = 100'000;  // Their text is limited before they are counted.
constexpr std::uint64_t pause_max_ms = std::uint64_t{1} << 40;

void put_payload(json_writer& to, std::string& out, std::string_view text) {
    if (text.empty()) return to.null();
    if (check_json(text))
        out += text;
    else
        to.string(is_utf8(text) ? std::string(text) : encode_base64(text));
}

/// What answers have in common, after an open bracket.
void put_fields(json_writer& to, std::string& out, const wire_answer& what) {
    to.plain_key("acknowledged");
    to.boolean(what.acknowledged);
    to.plain_key("duplicateDetected");
    to.boolean(what.duplicate);
    to.plain_key("payload");
    put_payload(to, out, what.payload);
    to.plain_key("error");
    if (what.error.empty())
        to.null();
    else
        to.string(clean_utf8(what.error, error_characters_max));
    if (!what.code.empty()) {
        to.plain_key("code");
        to.string(what.code);
    }
    if (what.retry_after) {
        to.plain_key("retryAfterMs");
        to.integer(what.retry_after->count());
    }
}

/// Batches say what alone is said outside of the text.
class answer_reader {
public:
    explicit answer_reader(bool in_batch) : in_batch_(in_batch) {}

    void read(json_reader& from) {
        seen_fields seen(field_names);
        from.members([&](std::string_view key, json_reader& value) {
            read_field(seen.take(key, value), value);
        });
    }
    [[nodiscard]] wire_answer take() && { return std::move(read_); }

private:
    void read_field(std::size_t index, json_reader& value) {
        if (index == field::count || value.is_null()) return value.skip();
        switch (index) {
            case field::acknowledged: read_.acknowledged = value.boolean(); return;
            case field::duplicate: read_.duplicate = value.boolean(); return;
            case field::payload: read_.payload = trimmed(value.document()); return;
            case field::error_text:
                read_.error = clean_utf8(value.string(), error_characters_max);
                return;
            case field::code: read_.code = value.string(); return;
            case field::retry_after:
                read_.retry_after = std::chrono::milliseconds(
                    static_cast<std::int64_t>(std::min(value.natural(), pause_max_ms)));
                return;
            case field::message_id: return read_id(value);
            default: return read_status(value);
        }
    }
    void read_id(json_reader& value) {
        if (!in_batch_) return value.skip();
        read_.id = uuid::parse(value.string());
        if (!read_.id) value.fail("is not a UUID");
    }
    void read_status(json_reader& value) {
        if (!in_batch_) return value.skip();
        const auto read = value.natural();
        if (read < 100 || read > 599) value.fail("is not a status");
        read_.status = static_cast<std::uint16_t>(read);
    }

    bool in_batch_;
    wire_answer read_;
};

result<wire_answer> read_one(std::string_view json, std::string_view where) {
    try {
        answer_reader reader(!where.empty());
        json_reader::read(json, [&](json_reader& from) { reader.read(from); });
        return std::move(reader).take();
    } catch (const error& why) {
        return std::unexpected(as_malformed(why, where));
    }
}

}  // namespace

void append_answer(std::string& out, const wire_answer& what) {
    json_writer to(out);
    to.open('{');
    put_fields(to, out, what);
    to.close('}');
}

void append_answers(std::string& out, const std::vector<wire_answer>& results) {
    json_writer to(out);
    to.open('{');
    to.plain_key("results");
    to.open('[');
    for (const auto& what : results) {
        to.element();
        to.open('{');
        if (what.id) {
            to.plain_key("messageId");
            to.string(what.id->to_string());
        }
        to.plain_key("status");
        to.natural(what.status);
        put_fields(to, out, what);
        to.close('}');
    }
    to.close(']');
    to.close('}');
}

result<wire_answer> read_answer(std::string_view json) { return read_one(json, {}); }

result<std::vector<wire_answer>> read_answers(std::string_view json) {
    const auto slices = split_list(json, {.field = "results", .elements_max = answers_max});
    POSTHORN_TRY(slices);
    std::vector<wire_answer> all;
    all.reserve(slices->size());
    for (std::size_t i = 0; i < slices->size(); ++i) {
        const auto where = fmt::format("results[{}]", i);
        if ((*slices)[i].empty())
            return fail(error_code::malformed_request, "{} is not an object", where);
        POSTHORN_LET(read, read_one((*slices)[i], where));
        all.push_back(std::move(read));
    }
    return all;
}

}  // namespace posthorn
