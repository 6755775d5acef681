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

secret derive(const secret& from, std::string_view label, bytes_view more) {
    const auto made = hmac_of(from, fmt::format("posthorn standby 1 {} {}", label, text_of(more)));
    return secret(made);
}

secret zeros() { return secret(std::array<std::byte, secret_bytes_min>{}); }

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
    : out_(derive(zeros(), label_of(self), {})), in_(derive(zeros(), label_of(other(self)), {})) {}

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

result<std::size_t> link_seal::rest_after(bytes_view head) {
    field_reader from(head);
    from.number(8);
    const auto size = from.number(4);
    const auto kind = from.number(1);
    if (!from.is_done() || size > link_body_max || kind < static_cast<unsigned>(link_kind::hello) ||
        kind > static_cast<unsigned>(link_kind::refused))
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

std::vector<std::byte> encode(const link_identity& what) {
    field_writer into;
    into.bytes(what.stream).number(what.epoch, 8).number(what.may_lack ? 1 : 0, 1);
    into.bytes(std::as_bytes(std::span(what.service)));
    return std::move(into.made);
}

std::optional<link_identity> decode_identity(bytes_view body) {
    field_reader from(body);
    link_identity read;
    from.into(read.stream);
    read.epoch = from.number(8);
    const auto lack = from.number(1);
    read.may_lack = lack == 1;
    read.service = text_of(from.rest());
    if (!from.ok || lack > 1 || read.service.size() > service_max) return std::nullopt;
    return read;
}

std::vector<std::byte> encode(const standby_place& what) {
    field_writer into;
    into.bytes(what.stream).number(what.epoch, 8);
    into.number(static_cast<std::uint64_t>(what.phase), 1);
    into.bytes(what.at.salts).number(what.at.offset, 8);
    into.number(what.at.sum.first, 4).number(what.at.sum.second, 4);
    return std::move(into.made);
}

std::optional<standby_place> decode_place(bytes_view body) {
    field_reader from(body);
    standby_place read;
    from.into(read.stream);
    read.epoch = from.number(8);
    const auto phase = from.number(1);
    from.into(read.at.salts);
    read.at.offset = from.number(8);
    read.at.sum.first = static_cast<std::uint32_t>(from.number(4));
    read.at.sum.second = static_cast<std::uint32_t>(from.number(4));
    if (!from.is_done() || phase > static_cast<unsigned>(standby_phase::promoted))
        return std::nullopt;
    read.phase = static_cast<standby_phase>(phase);
    return read;
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
