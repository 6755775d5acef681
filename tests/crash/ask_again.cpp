#include <chrono>

#include <gtest/gtest.h>

#include "app/config/secrets.hpp"
#include "app/node/network_connector.hpp"
#include "app/node/node_config.hpp"
#include "base/async/io_threads.hpp"
#include "base/result.hpp"
#include "crash/canary.hpp"
#include "crash/services.hpp"
#include "support/test_environment.hpp"

namespace posthorn::crash {
namespace {

/// What the source sent, and the response that the target gave and wrote down.
struct exchange {
    message sent;
    std::string response;
};

std::vector<std::string> column(services::database& of, const std::string& sql) {
    std::vector<std::string> values;
    std::string all = of.lines(sql);
    for (std::size_t begin = 0; begin < all.size();) {
        const auto end = all.find('\n', begin);
        values.push_back(all.substr(begin, end - begin));
        begin = end + 1;
    }
    return values;
}

// The newest ones and some of the others.
std::vector<exchange> some_of(const services& all) {
    auto there = all.open("target");
    there.run("ATTACH '" + all.folder().file("source.db") + "' AS source");
    const std::string chosen =
        " FROM effects JOIN source.outbox_messages USING (message_id)"
        " WHERE place > (SELECT max(place) - 50 FROM effects) OR place % 97 = 0"
        " ORDER BY place DESC LIMIT 200";
    const auto ids = column(there, "SELECT message_id" + chosen);
    const auto payloads = column(there, "SELECT payload" + chosen);
    const auto responses = column(there, "SELECT receipt" + chosen);
    std::vector<exchange> found;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        exchange one;
        one.sent.id = *uuid::parse(ids[i]);
        one.sent.source = "source";
        one.sent.destination = "target";
        one.sent.endpoint = "Link";
        one.sent.payload = payloads[i];
        one.sent.created_at =
            std::chrono::time_point_cast<std::chrono::milliseconds>(real_clock().wall());
        one.sent.expires_at = one.sent.created_at + std::chrono::hours(1);
        one.response = responses[i];
        found.push_back(std::move(one));
    }
    return found;
}

/// The source's end of the network, without the source.
class second_source {
public:
    explicit second_source(const std::string& target) {
        const auto settings =
            config_of({.service = "source",
                       .store = {.database = "memory:"},
                       .routes = {{"target", target}},
                       .secrets = {{"target", {"base64:" + std::string(canary_secret_base64)}}}});
        keys_.replace(value_or_throw(load_secrets(settings)));
        connector_ = value_or_throw(network_connector::open(settings, {env_, keys_, transports_}));
        wire_ = value_or_throw(connector_->connect("target", core_route(target)));
    }
    ~second_source() {
        wire_.reset();
        posthorn::start(network_.executor(), connector_->stop()).get();
    }
    second_source(const second_source&) = delete;
    second_source& operator=(const second_source&) = delete;

    delivery send(const message& what) {
        return posthorn::start(network_.executor(), wire_->deliver({&what})).get().at(0);
    }

private:
    worker_threads workers_{"work"};
    io_threads network_{"io"};
    logger log_ = logger::null();
    test::test_environment env_{
        {.log = log_, .network = network_.executor(), .workers = &workers_}};
    peer_keys keys_;
    network_connector::transports transports_;
    std::unique_ptr<network_connector> connector_;
    std::unique_ptr<transport> wire_;
};

}  // namespace

std::size_t services::ask_again() {
    const auto exchanges = some_of(*this);
    second_source source(url_of("target"));
    for (const auto& one : exchanges) {
        const auto answer = source.send(one.sent);
        EXPECT_EQ(answer.what, outcome::delivered) << answer.error;
        EXPECT_TRUE(answer.duplicate);
        EXPECT_EQ(answer.payload, one.response);
        if (testing::Test::HasFailure()) break;
    }
    return exchanges.size();
}

}  // namespace posthorn::crash
