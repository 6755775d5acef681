#include "webhook/routes/portal_token.hpp"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/text/base64.hpp"
#include "security/hmac.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

constexpr std::string_view prefix = "pht_";
constexpr std::size_t token_bytes_max = 4096;

std::optional<portal_grant> read_grant(std::string_view encoded) {
    const auto bytes = decode_base64(encoded);
    if (!bytes) return std::nullopt;
    boost::system::error_code wrong;
    const std::string text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    const auto read = json::parse(text, wrong);
    const auto* const fields = wrong ? nullptr : read.if_object();
    if (fields == nullptr) return std::nullopt;
    const auto* const tenant = fields->if_contains("tenant");
    const auto* const write = fields->if_contains("write");
    const auto* const until = fields->if_contains("until");
    if (tenant == nullptr || !tenant->is_string() || tenant->as_string().empty() ||
        write == nullptr || !write->is_bool() || until == nullptr || !until->is_int64())
        return std::nullopt;
    return portal_grant{.tenant = std::string(tenant->as_string()),
                        .may_write = write->as_bool(),
                        .until = wall_time{std::chrono::milliseconds(until->as_int64())}};
}

}  // namespace

portal_tokens::portal_tokens(const secret& key)
    : key_(std::span<const std::byte>(hmac_of(key, "posthorn portal token 1"))) {}

std::string portal_tokens::mint(const portal_grant& what) const {
    const auto body = encode_base64(
        json::serialize(json::object{{"tenant", what.tenant},
                                     {"write", what.may_write},
                                     {"until", what.until.time_since_epoch().count()}}));
    const auto signature = hmac_of(key_, body);
    return std::string(prefix) + body + "." + encode_base64(signature);
}

std::optional<portal_grant> portal_tokens::verify(std::string_view token, wall_time now) const {
    if (token.size() > token_bytes_max || !token.starts_with(prefix)) return std::nullopt;
    token.remove_prefix(prefix.size());
    const auto dot = token.find('.');
    if (dot == token.npos) return std::nullopt;
    const auto body = token.substr(0, dot);
    const auto signature = decode_base64(token.substr(dot + 1));
    if (!signature || !is_same(hmac_of(key_, body), *signature)) return std::nullopt;
    auto grant = read_grant(body);
    if (!grant || now >= grant->until) return std::nullopt;
    return grant;
}

}  // namespace posthorn
