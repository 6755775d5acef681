#include "url/url_feature.hpp"

#include "base/text/http_url.hpp"
#include "feature/node_builder.hpp"
#include "url/url_settings.hpp"
#include "url/url_transport.hpp"

namespace posthorn {
namespace {

/// The way to every destination that is a URL, of whatever scheme: those that cannot be called are
/// told why.
class url_ways final : public route_source {
public:
    explicit url_ways(transport& by) : by_(by) {}

    transport* find(std::string_view destination) override {
        return has_url_scheme(destination) ? &by_ : nullptr;
    }
    [[nodiscard]] std::optional<route_limits> limits(std::string_view destination) const override {
        if (!has_url_scheme(destination)) return std::nullopt;
        return route_limits{};
    }

private:
    transport& by_;
};

class urls final : public feature {
public:
    [[nodiscard]] std::string_view name() const noexcept override { return "urls"; }
    [[nodiscard]] std::span<const feature_key> keys() const noexcept override { return url_keys(); }
    [[nodiscard]] std::vector<feature_problem> problems(
        const feature_settings& said, const message_limits& /*limits*/) const override {
        return check_url_settings(said);
    }

    result<> install(node_builder& into) const override {
        POSTHORN_LET(how, read_url_options(into.settings()));
        const auto* const self = into.identity();
        if (!into.settings().get<bool>("enabled") || self == nullptr) return {};
        how.client.limits.body_bytes_max = self->answer_bytes_max;
        auto& client = into.run(std::make_unique<url_client>(into.env(), std::move(how)));
        auto& sends = into.make<url_transport>(into.env(), client, *self);
        into.route(into.make<url_ways>(sends));
        return {};
    }
};

}  // namespace

const feature& url_feature() noexcept {
    static const urls one;
    return one;
}

}  // namespace posthorn
