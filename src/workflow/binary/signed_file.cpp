#include "workflow/binary/signed_file.hpp"

#include <algorithm>

#include "base/planted.hpp"
#include "workflow/binary/byte_range.hpp"

namespace posthorn {
namespace {

constexpr std::string_view mark = "posthorn-signed1";
constexpr std::string_view domain{"posthorn workflow binary 1\0", 27};
constexpr std::size_t key_bytes = std::tuple_size_v<ed25519_public>;
constexpr std::size_t signature_bytes = std::tuple_size_v<ed25519_signature>;
constexpr std::size_t trailer_bytes = mark.size() + key_bytes + signature_bytes;

/// Where the trailer begins; at the end if there is none.
std::size_t trailer_at(std::span<const std::byte> file) {
    if (file.size() < trailer_bytes) return file.size();
    const auto at = file.size() - trailer_bytes;
    return byte_range(file).text().substr(at, mark.size()) == mark ? at : file.size();
}

std::string signed_text(std::span<const std::byte> before_signature) {
    std::string text;
    text.reserve(domain.size() + before_signature.size());
    return text.append(domain).append(byte_range(before_signature).text());
}

}  // namespace

inspected<signed_binary> read_signed(std::span<const std::byte> file) {
    const auto at = trailer_at(file);
    if (at == file.size())
        return refuse(binary_flaw::unsigned_binary,
                      "the binary is not signed; sign it with posthorn keys sign FILE --key KEY");
    signed_binary parts{.elf = file.first(at)};
    const auto rest = file.subspan(at + mark.size());
    std::ranges::copy(rest.first(key_bytes), parts.key.begin());
    std::ranges::copy(rest.subspan(key_bytes), parts.signature.begin());
    return parts;
}

inspected<publisher> find_publisher(std::span<const std::byte> file,
                                    std::span<const publisher> known) {
    POSTHORN_LET(parts, read_signed(file));
    const auto by = std::ranges::find(known, parts.key, &publisher::key);
    if (by == known.end())
        return refuse(
            binary_flaw::unknown_publisher,
            "the binary is signed with the key {}, which is not that of a known publisher",
            ed25519_text(parts.key, publisher_key_prefix));
    if (!POSTHORN_PLANTED(unsigned_binary_loaded) &&
        !verify_ed25519(parts.key, signed_text(file.first(file.size() - signature_bytes)),
                        parts.signature))
        return refuse(binary_flaw::bad_signature,
                      "the binary is not as {} signed it: it was changed, or cut and joined",
                      by->name);
    return *by;
}

std::vector<std::byte> sign_binary(std::span<const std::byte> elf, const ed25519_pair& by) {
    const auto bare = elf.first(trailer_at(elf));
    std::vector<std::byte> file(bare.begin(), bare.end());
    file.reserve(bare.size() + trailer_bytes);
    std::ranges::copy(std::as_bytes(std::span(mark)), std::back_inserter(file));
    std::ranges::copy(by.public_key(), std::back_inserter(file));
    const auto signature = by.sign(signed_text(file));
    std::ranges::copy(signature, std::back_inserter(file));
    return file;
}

}  // namespace posthorn
