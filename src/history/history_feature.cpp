#include "history/history_feature.hpp"

#include <array>

#include "feature/node_builder.hpp"
#include "history/history_keeper.hpp"
#include "history/history_routes.hpp"
#include "history/history_table.hpp"

namespace posthorn {
namespace {

constexpr std::int64_t names_max_most = 100;

constexpr std::array history_keys{
    feature_key{"enabled", "whether rates, latencies and backlog are kept for the desk's charts",
                [] { return feature_value(true); }},
    feature_key{"names_max",
                "so many destinations, and so many endpoints, have a line of their own",
                [] { return feature_value(std::int64_t{16}); }},
};

constexpr std::array odd_samples{odd_rows{
    .table = "posthorn_history",
    .where = "octet_length(took) > 4096",
    .why = "they have more than 4,096 bytes of durations, which no node writes: charts leave these "
           "out",
    .todo = "delete them from posthorn_history"}};

class history final : public feature {
public:
    [[nodiscard]] std::string_view name() const noexcept override { return "history"; }
    [[nodiscard]] table_set tables() const noexcept override { return history_tables(); }
    [[nodiscard]] std::span<const odd_rows> odd() const noexcept override { return odd_samples; }
    [[nodiscard]] std::span<const feature_key> keys() const noexcept override {
        return history_keys;
    }

    result<> install(node_builder& into) const override {
        const auto names_max = into.settings().get<std::int64_t>("names_max");
        if (names_max < 1 || names_max > names_max_most)
            return fail(error_code::invalid_configuration,
                        "history.names_max cannot be {}; write 1 to {}", names_max, names_max_most);
        std::vector<store*> outboxes{&into.database()};
        if (&into.inbox_database() != &into.database()) outboxes.push_back(&into.inbox_database());
        const auto& with =
            into.make<history_deps>(history_deps{.env = into.env(),
                                                 .where = into.database(),
                                                 .outboxes = std::move(outboxes),
                                                 .counters = into.outbox(),
                                                 .inbox = into.inbox(),
                                                 .node = into.node(),
                                                 .names_max = static_cast<std::size_t>(names_max)});
        auto made = std::make_unique<history_keeper>(with);
        const auto& keeper = *made;
        if (into.settings().get<bool>("enabled"))
            into.run(std::move(made));
        else
            into.make<std::unique_ptr<history_keeper>>(std::move(made));
        into.add(history_route(with, keeper));
        into.metrics([&keeper](prometheus_text& text) {
            text.counter("posthorn_history_rows_lost_total",
                         "Rows of the desk's charts that could not be written.",
                         keeper.rows_lost());
        });
        return {};
    }
};

}  // namespace

const feature& history_feature() noexcept {
    static const history one;
    return one;
}

}  // namespace posthorn
