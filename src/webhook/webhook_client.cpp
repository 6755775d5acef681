#include "webhook/webhook_client.hpp"

#include <utility>

namespace posthorn {
namespace {

guarded_answer not_sent(guarded_trouble what, std::string why) {
    return {.trouble = what, .for_operator = std::move(why), .for_subscriber = "not sent"};
}

}  // namespace

result<> webhook_client::make() {
    POSTHORN_LET(tls, make_tls_for_strangers(options_.authorities));
    POSTHORN_LET(own, own_addresses());
    options_.client.rules.own = std::move(own);
    client_ = std::make_unique<guarded_client>(guarded_client::deps{.where = env_.network,
                                                                    .tasks = tasks_,
                                                                    .time = env_.timer,
                                                                    .now = env_.clock,
                                                                    .names = names_,
                                                                    .tls = std::move(tls)},
                                               options_.client);
    return {};
}

void webhook_client::look_at_own_addresses() {
    auto own = own_addresses_.look(env_.clock.steady());
    if (!own) return;
    options_.client.rules.own = *std::move(own);
    client_->set_rules(options_.client.rules);
}

task<> webhook_client::run() {
    bell never;
    std::ignore = co_await never.wait();
    stopped_ = true;
    if (client_) client_->stop();
    tasks_.cancel();
    co_await tasks_.join();
}

task<guarded_answer> webhook_client::send(guarded_request request, fair_slots::asker who) {
    if (stopped_) co_return not_sent(guarded_trouble::cancelled, "the node stops");
    if (!client_)
        if (const auto made = make(); !made)
            co_return not_sent(guarded_trouble::overloaded, made.error().what());
    look_at_own_addresses();
    const auto endpoint = who.endpoint;
    const bool counts = !who.is_test;
    const auto mine = slots_.take(std::move(who));
    if (!mine)
        co_return not_sent(guarded_trouble::overloaded,
                           "all connections that it may have are in use; see "
                           "webhooks.connections_max");
    auto answer = co_await client_->send(std::move(request));
    if (counts && answer.trouble != guarded_trouble::cancelled &&
        answer.trouble != guarded_trouble::overloaded)
        slots_.note(endpoint, answer.trouble == guarded_trouble::none);
    co_return answer;
}

}  // namespace posthorn
