#include "queue/queue_feature.hpp"

#include "feature/node_builder.hpp"
#include "queue/queue.hpp"
#include "queue/queue_routes.hpp"

namespace posthorn {
namespace {

class queue final : public feature {
public:
    [[nodiscard]] std::string_view name() const noexcept override { return "queue"; }
    [[nodiscard]] table_set tables() const noexcept override { return queue_tables(); }
    [[nodiscard]] std::string_view handler_word() const noexcept override { return "queue"; }

    result<> install(node_builder& into) const override {
        std::vector<std::string> queues;
        for (const auto& each : into.endpoints()) {
            queues.push_back(each.name);
            // A response is not a request: an endpoint may have a handler for each.
            handler made{.run = make_queue_handler(into.env().clock),
                         .limit = each.limit,
                         .lease = each.lease,
                         .takes_responses = false};
            auto& handlers = into.handlers();
            POSTHORN_TRY(each.responses ? handlers.add_response(each.name, std::move(made))
                                        : handlers.add(each.name, std::move(made)));
        }
        for (auto& each :
             queue_routes({into.inbox_database(), into.env().clock, std::move(queues)}))
            into.add(std::move(each));
        return {};
    }
};

}  // namespace

const feature& queue_feature() noexcept {
    static const queue one;
    return one;
}

}  // namespace posthorn
