#include <boost/asio/ssl/context.hpp>
#include <gmock/gmock.h>
#include <openssl/ssl.h>

#include "unit/transport/http/guarded/guarded_fixture.hpp"
#include "unit/transport/http/test_certificate.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using test::certificate_files;
using test::make_certificate;
using test::stranger_line;
using testing::HasSubstr;
using line_ptr = std::shared_ptr<stranger_line>;
using enum guarded_trouble;

class guarded_client_tls : public test::guarded_fixture {
protected:
    // A server that speaks these versions of TLS, and a client that trusts its certificate.
    test::stranger& secure(const test::certificate_wish& wish, int oldest = TLS1_2_VERSION,
                           int newest = TLS1_3_VERSION) {
        finish();  // The client keeps whom it trusts.
        const auto files = make_certificate(folder_, "server", wish);
        auto context = std::make_shared<tls_context>(boost::asio::ssl::context::tls_server);
        context->use_certificate_chain_file(files.certificate);
        context->use_private_key_file(files.key, boost::asio::ssl::context::pem);
        // What is old is not spoken otherwise.
        SSL_CTX_set_security_level(context->native_handle(), 0);
        SSL_CTX_set_min_proto_version(context->native_handle(), oldest);
        SSL_CTX_set_max_proto_version(context->native_handle(), newest);
        tls_ = make_tls_for_strangers(files.certificate).value();
        SSL_CTX_set_security_level(tls_->native_handle(), 0);
        says("hooks.example", {"127.0.0.1"});
        return answering(std::string(ok), std::move(context));
    }

    guarded_answer ask(const test::stranger& server, const std::string& host = "hooks.example") {
        return send(url(server, host, "https"));
    }

    void expect_no_tls(const guarded_answer& answer) {
        EXPECT_EQ(to_string(answer.trouble), to_string(tls)) << answer.for_operator;
        EXPECT_EQ(answer.for_subscriber, "no TLS with a valid certificate");
        EXPECT_TRUE(heard_.empty()) << "nothing was told";
        EXPECT_EQ(client().connections(), 0U);
    }

    test::temporary_directory folder_;
};

TEST_F(guarded_client_tls, speaks_1_3_and_1_2_with_a_server_that_proves_its_name) {
    for (const int version : {TLS1_3_VERSION, TLS1_2_VERSION}) {
        const auto& server = secure({.host = "hooks.example"}, version, version);
        const auto answer = ask(server);
        EXPECT_EQ(answer.status, 200) << answer.for_operator;
        EXPECT_TRUE(ask(server).reused);
    }
}

TEST_F(guarded_client_tls, speaks_nothing_older_than_1_2) {
    for (const int version : {TLS1_1_VERSION, TLS1_VERSION})
        expect_no_tls(ask(secure({.host = "hooks.example"}, version, version)));
}

TEST_F(guarded_client_tls, talks_to_no_server_with_the_certificate_of_another_name) {
    expect_no_tls(ask(secure({.host = "other.example"})));
    expect_no_tls(ask(secure({.host = "127.0.0.1"})));
    const auto& by_address = secure({.host = "127.0.0.1"});
    EXPECT_EQ(ask(by_address, "127.0.0.1").status, 200) << "an address is proven as well";
}

TEST_F(guarded_client_tls, talks_to_no_server_whose_certificate_is_over_or_not_yet_valid) {
    expect_no_tls(ask(secure({.host = "hooks.example", .valid_from = -2h, .valid_until = -1h})));
    expect_no_tls(ask(secure({.host = "hooks.example", .valid_from = 1h, .valid_until = 2h})));
}

TEST_F(guarded_client_tls, trusts_only_its_authorities) {
    const auto& server = secure({.host = "hooks.example"});
    tls_ = make_tls_for_strangers().value();  // The system's.
    expect_no_tls(ask(server));
}

TEST_F(guarded_client_tls, gives_up_a_server_that_does_not_agree_on_tls) {
    secure({.host = "hooks.example"});
    const auto& silent = listen([](line_ptr line) -> task<> {
        while (!(co_await line->hear()).empty()) {
        }
    });
    const auto answer = wait_for(begin(url(silent, "127.0.0.1", "https")));
    EXPECT_EQ(answer.trouble, late);
    EXPECT_EQ(answer.took.whole, 5s);
    const auto& plain = listen([](line_ptr line) -> task<> {
        co_await line->say(std::string(ok));
        (void)co_await line->hear();
    });
    EXPECT_EQ(send(url(plain, "127.0.0.1", "https")).trouble, tls);
}

TEST_F(guarded_client_tls, begins_behind_a_proxy_with_the_name_of_the_server) {
    const auto& server = secure({.host = "hooks.example"});
    const auto port = server.port();
    // Passes bytes on in both directions.
    const auto& way = listen([&](line_ptr line) -> task<> {
        heard_.push_back(co_await line->hear());
        auto behind = std::make_shared<stranger_line>(boost::asio::ip::tcp::socket(loop_), nullptr);
        co_await behind->stream.tcp().async_connect(
            boost::asio::ip::tcp::endpoint(boost::asio::ip::address_v4::loopback(), port),
            boost::asio::as_tuple(boost::asio::use_awaitable));
        co_await line->say("HTTP/1.1 200 OK\r\n\r\n");
        const auto pass = [](line_ptr from, line_ptr to) -> task<> {
            for (;;) {
                char buffer[4096];
                const auto [failure, bytes] =
                    co_await from->stream.read_some(boost::asio::buffer(buffer));
                if (failure || !co_await to->say(std::string(buffer, bytes))) break;
            }
            to->stream.close();
        };
        servers_->spawn(pass(behind, line));
        co_await pass(line, behind);
    });
    options_.proxy = guarded_proxy{.host = "127.0.0.1", .port = way.port()};
    const auto answer = ask(server);
    EXPECT_EQ(answer.status, 200) << answer.for_operator;
    ASSERT_EQ(heard_.size(), 2U);
    EXPECT_THAT(heard_[0], HasSubstr("CONNECT 127.0.0.1:" + std::to_string(port)));
    EXPECT_THAT(heard_[1], HasSubstr("Host: hooks.example:" + std::to_string(port)));
}

}  // namespace
}  // namespace posthorn
