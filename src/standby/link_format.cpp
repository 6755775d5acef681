#include "standby/link_format.hpp"

#include <algorithm>

#include "security/digest.hpp"
#include "security/hmac.hpp"
#include "standby/wal_format.hpp"

namespace posthorn::standby {
namespace {

constexpr std::size_t service_max = 1024;
constexpr std::size_t hashed_page_max = 65'536;
constexpr std::size_t hashes_max = 4096;

std::string_view text_of(bytes_view bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The first messages are made as they were in version 1, so that an older one reads a refusal.
secret derive_first(std::string_view label) {
    const secret zeros(std::array<std::byte, secret_bytes_min>{});
    return secret(hmac_of(zeros, fmt::format("posthorn standby 1 {} ", label)));
}

secret derive(const secret& from, std::string_view label, bytes_view more) {
    return secret(hmac_of(
        from, fmt::format("posthorn standby {} {} {}", link_version, label, text_of(more))));
}

constexpr std::string_view label_of(link_end end) {
    return end == link_end::primary ? "from primary" : "from standby";
}

constexpr link_end other(link_end end) {
    return end == link_end::primary ? link_end::standby : link_end::primary;
}

/// Takes fields off the front of a body; `ok` until one is not there.
class field_reader {
public:
    explicit field_reader(bytes_view rest) : rest_(rest) {}

    bytes_view bytes(std::size_t size) {
        ok = ok && size <= rest_.size();
        if (!ok) return {};
        const auto taken = rest_.first(size);
        rest_ = rest_.subspan(size);
        return taken;
    }
    std::uint64_t number(std::size_t size) { return read_number(bytes(size)); }
    template <std::size_t Size>
    void into(std::array<std::byte, Size>& field) {
        std::ranges::copy(bytes(Size), field.begin());
    }
    [[nodiscard]] bytes_view rest() const { return rest_; }
    [[nodiscard]] bool is_done() const { return ok && rest_.empty(); }

    bool ok = true;

private:
    bytes_view rest_;
};

class field_writer {
public:
    field_writer& bytes(bytes_view more) {
        made.insert(made.end(), more.begin(), more.end());
        return *this;
    }
    field_writer& number(std::uint64_t value, std::size_t size) {
        made.resize(made.size() + size);
        write_number(std::span(made).last(size), value);
        return *this;
    }
    std::vector<std::byte> made;
};

}  // namespace

link_seal::link_seal(link_end self)
    : out_(derive_first(label_of(self))), in_(derive_first(label_of(other(self)))) {}

link_seal::link_seal(link_end self, const secret& pair_key, std::span<const std::byte> nonces)
    : out_(derive(pair_key, label_of(self), nonces)),
      in_(derive(pair_key, label_of(other(self)), nonces)) {}

std::vector<std::byte> link_seal::seal(link_kind kind, std::initializer_list<bytes_view> body) {
    std::size_t size = 0;
    for (const auto& each : body) size += each.size();
    field_writer into;
    into.made.reserve(link_head_size + size + link_tag_size);
    into.number(sent_++, 8).number(size, 4).number(static_cast<std::uint64_t>(kind), 1);
    for (const auto& each : body) into.bytes(each);
    const auto tag = hmac_of(out_, text_of(into.made));
    into.bytes(bytes_view(tag).first(link_tag_size));
    return std::move(into.made);
}

result<std::size_t> link_seal::rest_after(bytes_view head, std::size_t body_max) {
    field_reader from(head);
    from.number(8);
    const auto size = from.number(4);
    const auto kind = from.number(1);
    if (!from.is_done() || size > body_max || kind < static_cast<unsigned>(link_kind::hello) ||
        kind > static_cast<unsigned>(last_link_kind))
        return fail(error_code::malformed_request, "what came is not a message of a pair's");
    return size + link_tag_size;
}

result<link_message> link_seal::open(bytes_view whole) {
    POSTHORN_LET(rest, rest_after(whole.first(std::min(whole.size(), link_head_size))));
    if (whole.size() != link_head_size + rest)
        return fail(error_code::malformed_request, "a message of a pair's was cut short");
    const auto said = whole.first(whole.size() - link_tag_size);
    const auto tag = hmac_of(in_, text_of(said));
    const auto given = whole.last(link_tag_size);
    unsigned differs = 0;  // In a time that tells nothing of where.
    for (std::size_t i = 0; i < link_tag_size; ++i)
        differs |= std::to_integer<unsigned>(tag[i] ^ given[i]);
    if (differs != 0 || read_number(said.first(8)) != taken_)
        return fail(error_code::bad_signature,
                    "the other end does not have the pair's key, or what it said was changed");
    ++taken_;
    const auto body = said.subspan(link_head_size);
    return link_message{static_cast<link_kind>(said[12]), {body.begin(), body.end()}};
}

std::vector<std::byte> encode(const link_hello& what) {
    field_writer into;
    into.number(what.version, 2).number(static_cast<std::uint64_t>(what.self), 1);
    auto id = what.key_id;
    id.resize(key_id_size);
    into.bytes(std::as_bytes(std::span(id))).bytes(what.nonce);
    return std::move(into.made);
}

std::optional<link_hello> decode_hello(bytes_view body) {
    field_reader from(body);
    link_hello read;
    read.version = static_cast<std::uint16_t>(from.number(2));
    const auto self = from.number(1);
    read.key_id = text_of(from.bytes(key_id_size));
    from.into(read.nonce);
    if (!from.is_done() || self > static_cast<unsigned>(link_end::standby)) return std::nullopt;
    read.self = static_cast<link_end>(self);
    return read;
}

std::vector<std::byte> encode(const link_nonce& what) {
    field_writer into;
    into.number(what.version, 2).bytes(what.nonce);
    return std::move(into.made);
}

std::optional<link_nonce> decode_nonce(bytes_view body) {
    field_reader from(body);
    link_nonce read;
    read.version = static_cast<std::uint16_t>(from.number(2));
    from.into(read.nonce);
    if (!from.is_done()) return std::nullopt;
    return read;
}

std::optional<std::uint16_t> version_in(bytes_view body) {
    if (body.size() == nonce_size) return 1;  // Which said a nonce and nothing else.
    if (body.size() < 2) return std::nullopt;
    return static_cast<std::uint16_t>(read_number(body.first(2)));
}

std::vector<std::byte> encode(const link_identity& what) {
    field_writer into;
    into.bytes(what.stream).number(what.epoch, 8).number(what.may_lack ? 1 : 0, 1);
    into.bytes(what.run).bytes(std::as_bytes(std::span(what.service)));
    return std::move(into.made);
}

std::optional<link_identity> decode_identity(bytes_view body) {
    field_reader from(body);
    link_identity read;
    from.into(read.stream);
    read.epoch = from.number(8);
    const auto lack = from.number(1);
    read.may_lack = lack == 1;
    from.into(read.run);
    read.service = text_of(from.rest());
    if (!from.ok || lack > 1 || read.service.size() > service_max) return std::nullopt;
    return read;
}

namespace {

void write(field_writer& into, const log_place& at) {
    into.bytes(at.salts).number(at.offset, 8).number(at.sum.first, 4).number(at.sum.second, 4);
}

void read(field_reader& from, log_place& at) {
    from.into(at.salts);
    at.offset = from.number(8);
    at.sum.first = static_cast<std::uint32_t>(from.number(4));
    at.sum.second = static_cast<std::uint32_t>(from.number(4));
}

}  // namespace

std::vector<std::byte> encode(const link_welcome& what) {
    field_writer into;
    into.bytes(what.place.stream).number(what.place.epoch, 8);
    into.number(static_cast<std::uint64_t>(what.place.phase), 1);
    write(into, what.place.at);
    into.number(what.can_lead ? 1 : 0, 1).bytes(std::as_bytes(std::span(what.service)));
    return std::move(into.made);
}

std::optional<link_welcome> decode_welcome(bytes_view body) {
    field_reader from(body);
    link_welcome said;
    from.into(said.place.stream);
    said.place.epoch = from.number(8);
    const auto phase = from.number(1);
    read(from, said.place.at);
    const auto can_lead = from.number(1);
    said.can_lead = can_lead == 1;
    said.service = text_of(from.rest());
    if (!from.ok || phase > static_cast<unsigned>(last_standby_phase) || can_lead > 1 ||
        said.service.size() > service_max)
        return std::nullopt;
    said.place.phase = static_cast<standby_phase>(phase);
    return said;
}

std::vector<std::byte> encode(const link_hand_over& what) {
    field_writer into;
    into.number(what.epoch, 8);
    write(into, what.at);
    return std::move(into.made);
}

std::optional<link_hand_over> decode_hand_over(bytes_view body) {
    field_reader from(body);
    link_hand_over said;
    said.epoch = from.number(8);
    read(from, said.at);
    if (!from.is_done()) return std::nullopt;
    return said;
}

std::vector<std::byte> encode(const page_hashes& what) {
    field_writer into;
    into.number(what.offset, 8).number(what.page_size, 4);
    for (const auto& each : what.hashes) into.bytes(each);
    return std::move(into.made);
}

std::optional<page_hashes> decode_hashes(bytes_view body) {
    field_reader from(body);
    page_hashes read;
    read.offset = from.number(8);
    read.page_size = static_cast<std::uint32_t>(from.number(4));
    const auto rest = from.rest().size();
    if (!from.ok || read.page_size == 0 || read.page_size > hashed_page_max ||
        rest % page_hash_size != 0 || rest / page_hash_size > hashes_max)
        return std::nullopt;
    read.hashes.resize(rest / page_hash_size);
    for (auto& each : read.hashes) from.into(each);
    return read;
}

std::array<std::byte, 8> encode(std::uint64_t number) {
    std::array<std::byte, 8> made{};
    write_number(made, number);
    return made;
}

std::array<std::byte, page_hash_size> hash_of_page(bytes_view page) {
    const auto whole = sha256_of({text_of(page)});
    std::array<std::byte, page_hash_size> made{};
    std::copy_n(whole.begin(), made.size(), made.begin());
    return made;
}

}  // namespace posthorn::standby
