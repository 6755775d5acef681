#include "consume/consume_feature.hpp"

#include <array>

#include "base/text/counted.hpp"
#include "consume/consume_dead.hpp"
#include "consume/consume_routes.hpp"
#include "consume/consume_service.hpp"
#include "consume/consume_settings.hpp"
#include "feature/node_builder.hpp"
#include "feature/store_builder.hpp"

namespace posthorn {
namespace {

constexpr std::chrono::seconds apart_max{30};

constexpr std::array keys_of_it{
    feature_key{"sources", "queues and streams of brokers that are consumed",
                [] { return feature_value(feature_tables{}); }},
};

error without_inbox() {
    return {error_code::invalid_configuration,
            "consume.sources needs an inbox, which a node with service.parts = \"outbox\" has not; "
            "write service.parts = \"both\", or leave the sources out"};
}

/// Of the columns below: messages that were put aside, and when the oldest was.
feature_finding judge_dead(std::span<const std::int64_t> seen, wall_time /*now*/) {
    if (seen[0] == 0) return {.what = "nothing that brokers gave was put aside"};
    return {.is_well = false,
            .what = fmt::format("{} put aside", counted(seen[0], "message of a broker was",
                                                        "messages of brokers were")),
            .why = "they took no effect, and the broker has forgotten them",
            .todo = "see 'posthorn consume dead', then requeue or discard them"};
}

constexpr std::array checks_of_it{
    feature_check{.name = "consumed",
                  .sql = "SELECT (SELECT count(*) FROM {s}.posthorn_consume_dead)",
                  .of_inbox = true,
                  .judge = &judge_dead}};

constexpr std::array odd_of_it{
    odd_rows{.table = "posthorn_consume_dead",
             .where = "seq < 1",
             .why = "they have a number below 1, where lists begin: they are not listed",
             .todo = "insert each into posthorn_consume_dead anew without a seq, and delete it",
             .of_inbox = true}};

std::vector<health_worry> worries(const consume_office& with) {
    std::vector<health_worry> all;
    const auto now = with.env.clock.wall();
    for (const auto* const each : with.running) {
        const auto seen = each->view();
        if (seen.apart_since && now - *seen.apart_since > apart_max)
            all.push_back({health_level::yellow,
                           fmt::format("'{}' is not consumed since {}: {}", each->source().name,
                                       to_iso8601(*seen.apart_since), seen.link.trouble)});
        if (seen.link.connected && !seen.link.trouble.empty())
            all.push_back({health_level::yellow,
                           fmt::format("'{}': {}", each->source().name, seen.link.trouble)});
    }
    std::int64_t dead = 0;
    const auto looked = with.where.read([&](store_reader& from) -> result<> {
        POSTHORN_LET(counts, count_put_aside(from));
        for (const auto& [source, count] : counts) dead += count;
        return {};
    });
    if (looked && dead > 0)
        all.push_back(
            {health_level::yellow,
             fmt::format("{} put aside; see 'posthorn consume dead'",
                         counted(dead, "message of a broker was", "messages of brokers were"))});
    return all;
}

void write_metrics(prometheus_text& text, const consume_office& with) {
    if (with.running.empty()) return;
    std::vector<std::pair<std::string_view, consume_view>> seen;
    for (const auto* const each : with.running)
        seen.emplace_back(each->source().name, each->view());
    text.begin("posthorn_consumed_total", "counter", "Messages of brokers by what became of them.");
    for (const auto& [name, is] : seen) {
        const auto sample = [&](std::string_view outcome, std::uint64_t count) {
            text.sample(static_cast<double>(count), {{"source", name}, {"outcome", outcome}});
        };
        sample("processed", is.counts.processed);
        sample("duplicate", is.counts.duplicates);
        sample("retried", is.counts.retried);
        sample("put_aside", is.counts.put_aside);
    }
    text.begin("posthorn_consume_connected", "gauge", "Whether a source has its broker.");
    for (const auto& [name, is] : seen) text.sample(is.link.connected ? 1 : 0, {{"source", name}});
    text.begin("posthorn_consume_in_hand", "gauge", "Messages that are not acknowledged yet.");
    for (const auto& [name, is] : seen)
        text.sample(static_cast<double>(is.in_hand), {{"source", name}});
}

class consumers final : public feature {
public:
    [[nodiscard]] std::string_view name() const noexcept override { return "consume"; }
    [[nodiscard]] table_set tables() const noexcept override { return consume_tables(); }
    [[nodiscard]] std::span<const feature_key> keys() const noexcept override { return keys_of_it; }
    [[nodiscard]] std::string_view summary() const noexcept override {
        return "look at what is consumed from brokers, and at what was put aside";
    }
    [[nodiscard]] std::span<const feature_command> commands() const noexcept override {
        return consume_commands();
    }
    [[nodiscard]] std::span<const feature_check> checks() const noexcept override {
        return checks_of_it;
    }
    [[nodiscard]] std::span<const odd_rows> odd() const noexcept override { return odd_of_it; }

    [[nodiscard]] std::vector<feature_problem> problems(
        const feature_settings& said, const message_limits& /*limits*/) const override {
        const auto sources = read_sources(said);
        if (sources) return {};
        return {{"sources", sources.error()}};
    }
    [[nodiscard]] std::vector<feature_problem> store_problems(
        const feature_settings& said, const store_plan& plan) const override {
        if (plan.has_inbox || said.get<feature_tables>("sources").items.empty()) return {};
        return {{"sources", without_inbox()}};
    }
    result<> before_store(store_builder& into) const override {
        if (into.plan().has_inbox || into.settings().get<feature_tables>("sources").items.empty())
            return {};
        return std::unexpected(without_inbox());
    }

    result<> install(node_builder& into) const override {
        POSTHORN_LET(sources, read_sources(into.settings()));
        const auto& maker = into.maker().defaults();
        for (auto& each : sources) {
            each.rules.destination = maker.source;
            each.rules.limits = maker.limits;
        }
        auto& office = into.make<consume_office>(consume_office{.where = into.inbox_database(),
                                                                .env = into.env(),
                                                                .sources = std::move(sources),
                                                                .running = {},
                                                                .inbox = into.receives()});
        for (auto& each : consume_routes(office)) into.add(std::move(each));
        const bool runs = !into.outbox().empty();
        if (!runs || office.sources.empty()) return {};
        for (const auto& each : office.sources) POSTHORN_TRY(run(into, office, each));
        into.health([&office] { return worries(office); });
        into.metrics([&office](prometheus_text& text) { write_metrics(text, office); });
        into.before_start([&into_handlers = into.handlers(), &office] {
            return check_handlers(into_handlers, office);
        });
        return {};
    }

private:
    static result<> run(node_builder& into, consume_office& office, const consume_source& one) {
        POSTHORN_LET(
            by, one.kind->consume({.env = into.env(),
                                   .url = one.url,
                                   .options = one.options,
                                   .password = password_of(one),
                                   .service = one.rules.destination,
                                   .authority = one.authority,
                                   .messages_max = static_cast<std::size_t>(one.window),
                                   .bytes_max = static_cast<std::size_t>(one.window_kib) << 10U}));
        office.running.push_back(&into.run(std::make_unique<consume_service>(
            consume_service::deps{.env = into.env(),
                                  .where = into.inbox_database(),
                                  .inbox = into.receives(),
                                  .service = one.rules.destination},
            one, std::move(by))));
        return {};
    }

    // One that is named outright must have its handler, or every message would be put aside.
    static result<> check_handlers(const handlers& known, const consume_office& with) {
        for (const auto& each : with.sources) {
            const auto& endpoint = each.rules.endpoint;
            if (endpoint == "address" || endpoint.starts_with("header:") ||
                known.find(endpoint) != nullptr)
                continue;
            return fail(error_code::invalid_configuration,
                        "the source '{}' of [consume] is for the endpoint {}, which has no "
                        "handler; add one, or correct the endpoint",
                        each.name, endpoint);
        }
        return {};
    }
};

}  // namespace

const feature& consume_feature() noexcept {
    static const consumers one;
    return one;
}

}  // namespace posthorn
