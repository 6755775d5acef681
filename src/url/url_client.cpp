#include "url/url_client.hpp"

#include <tuple>
#include <utility>

#include "base/async/bell.hpp"

namespace posthorn {

result<const guard_rules*> url_client::rules() {
    if (client_) {
        look_at_own_addresses();
        return &options_.client.rules;
    }
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
    return &options_.client.rules;
}

void url_client::look_at_own_addresses() {
    auto own = own_addresses_.look(env_.clock.steady());
    if (!own) return;
    options_.client.rules.own = *std::move(own);
    client_->set_rules(options_.client.rules);
}

task<> url_client::run() {
    bell never;
    std::ignore = co_await never.wait();
    stopped_ = true;
    if (client_) client_->stop();
    tasks_.cancel();
    co_await tasks_.join();
}

task<guarded_answer> url_client::send(guarded_request request) {
    if (stopped_ || !client_)
        co_return guarded_answer{.trouble = guarded_trouble::cancelled,
                                 .for_operator = "the node stops"};
    look_at_own_addresses();
    co_return co_await client_->send(std::move(request));
}

}  // namespace posthorn
