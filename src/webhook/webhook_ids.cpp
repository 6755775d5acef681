#include "webhook/webhook_ids.hpp"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include "base/planted.hpp"
#include "security/digest.hpp"
#include "security/md5.hpp"

namespace posthorn {
namespace {

uuid from_digest(const sha256_digest& digest) {
    uuid::bytes_type bytes{};
    std::ranges::transform(digest.begin(), digest.begin() + bytes.size(), bytes.begin(),
                           [](std::byte one) { return std::to_integer<std::uint8_t>(one); });
    bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0FU) | 0x50U);
    bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3FU) | 0x80U);
    return uuid(bytes);
}

void add(sha256& to, const uuid& id) { to.add(std::as_bytes(std::span(id.bytes()))); }

}  // namespace

uuid child_id(const uuid& event, const uuid& subscription) {
    sha256 hash;
    if (static std::uint64_t calls = 0; POSTHORN_PLANTED(child_id_random))
        hash.add(std::to_string(++calls));
    hash.add("posthorn.webhook.delivery");
    add(hash, event);
    add(hash, subscription);
    return from_digest(hash.finish());
}

uuid delivery_id(const uuid& event, const uuid& subscription, std::int32_t attempt) {
    sha256 hash;
    add(hash, event);
    add(hash, subscription);
    const auto number = static_cast<std::uint32_t>(attempt);
    const std::array<std::byte, 4> low_first{
        std::byte(number & 0xFFU), std::byte((number >> 8U) & 0xFFU),
        std::byte((number >> 16U) & 0xFFU), std::byte((number >> 24U) & 0xFFU)};
    hash.add(low_first);
    return from_digest(hash.finish());
}

uuid configured_id(std::string_view url, std::string_view tenant) {
    auto bytes = md5(fmt::format("{}|{}", url, tenant));
    bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0FU) | 0x30U);
    bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3FU) | 0x80U);
    return uuid(bytes);
}

}  // namespace posthorn
