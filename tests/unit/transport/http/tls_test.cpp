#include "transport/http/tls.hpp"

#include <filesystem>
#include <fstream>
#include <future>

#include <boost/asio/ssl/context.hpp>
#include <gmock/gmock.h>
#include <openssl/ssl.h>

#include "transport/http/http_channel.hpp"
#include "transport/http/http_client.hpp"
#include "unit/transport/http/http_fixture.hpp"
#include "unit/transport/http/test_certificate.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using test::certificate_files;
using test::certificate_wish;
using test::make_certificate;
using testing::HasSubstr;

task<http_response> echo(http_request request) {
    co_return http_response{200, {}, request.method + " " + request.path + " " + request.body};
}

void overwrite(const std::string& file, std::string_view text) { std::ofstream(file) << text; }

class tls_test : public test::http_fixture {
protected:
    ~tls_test() override { finish(); }

    static tls_files files_of(const certificate_files& made) {
        return {made.certificate, made.key};
    }

    result<std::unique_ptr<tls_server>> load(const certificate_files& made) {
        return tls_server::load(files_of(made), clock_);
    }

    std::uint16_t listen_with(const certificate_files& made, http_limits limits = {}) {
        tls_ = load(made).value();
        return listen(echo, limits, tls_.get());
    }

    // Asks on a connection of its own.
    result<http_response> ask(const std::string& url, std::shared_ptr<tls_context> trusted) {
        http_client client(client_parts(std::move(trusted)));
        http_request request;
        request.method = "POST";
        request.body = "body";
        return run(client.send(url, request));
    }

    static std::shared_ptr<tls_context> trusting(const certificate_files& made) {
        return make_tls_client(made.certificate).value();
    }

    static std::string https(std::uint16_t port, const std::string& host = "127.0.0.1") {
        return "https://" + host + ":" + std::to_string(port) + "/a";
    }

    test::temporary_directory folder_;
    real_clock clock_;
    std::unique_ptr<tls_server> tls_;
};

TEST_F(tls_test, carries_requests_to_a_server_that_proves_its_name) {
    const auto made = make_certificate(folder_, "a");
    const auto port = listen_with(made);
    EXPECT_EQ(ask(https(port), trusting(made))->body, "POST /a body");
}

TEST_F(tls_test, checks_names_as_well_as_addresses) {
    const auto made = make_certificate(folder_, "a", {.host = "localhost"});
    const auto port = listen_with(made);
    EXPECT_EQ(ask(https(port, "localhost"), trusting(made))->body, "POST /a body");
    const auto other = ask(https(port), trusting(made));
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code(), error_code::unreachable);
    EXPECT_THAT(other.error().what(), HasSubstr("no TLS with https://127.0.0.1"));
}

std::vector<std::string> names_of(const certificate_files& made) {
    boost::asio::ssl::context holder(boost::asio::ssl::context::tlsv13_server);
    holder.use_certificate_chain_file(made.certificate);
    return names_in(SSL_CTX_get0_certificate(holder.native_handle()));
}

TEST_F(tls_test, takes_the_common_name_for_one_only_where_no_other_names_a_host) {
    const auto both = make_certificate(folder_, "a", {.host = "stock", .common_name = "orders"});
    EXPECT_EQ(names_of(both), std::vector<std::string>{"stock"});
    const auto one = make_certificate(folder_, "b", {.common_name = "orders"});
    EXPECT_EQ(names_of(one), std::vector<std::string>{"orders"}) << "an address is no name";
}

TEST_F(tls_test, reads_a_clients_files_again_for_all_who_share_them) {
    const auto port = listen_with(make_certificate(folder_, "a"));
    const auto file = make_certificate(folder_, "b").certificate;
    const auto trusted = make_tls_client(file).value();
    EXPECT_FALSE(ask(https(port), trusted));
    EXPECT_FALSE(renew_tls_client(*trusted, folder_.file("none"), {}));
    std::filesystem::copy_file(folder_.file("a.crt"), file,
                               std::filesystem::copy_options::overwrite_existing);
    ASSERT_TRUE(renew_tls_client(*trusted, file, {}));
    EXPECT_EQ(ask(https(port), trusted)->body, "POST /a body");
    EXPECT_FALSE(renew_tls_client(*trusted, folder_.file("none"), {}));
    EXPECT_EQ(ask(https(port), trusted)->body, "POST /a body") << "what failed changed nothing";
}

TEST_F(tls_test, trusts_nobody_whom_its_authority_does_not_vouch_for) {
    const auto port = listen_with(make_certificate(folder_, "a"));
    const auto other = make_certificate(folder_, "b");
    EXPECT_EQ(ask(https(port), trusting(other)).error().code(), error_code::unreachable);
    EXPECT_EQ(ask(https(port), nullptr).error().code(), error_code::unreachable);  // The system's.
}

TEST_F(tls_test, speaks_nothing_older_than_1_3) {
    const auto made = make_certificate(folder_, "a");
    const auto port = listen_with(made);
    auto old = std::make_shared<tls_context>(boost::asio::ssl::context::tlsv12_client);
    EXPECT_EQ(ask(https(port), old).error().code(), error_code::unreachable);
    auto* const ours = trusting(made)->native_handle();
    EXPECT_EQ(SSL_CTX_get_min_proto_version(ours), TLS1_3_VERSION);
}

TEST_F(tls_test, tells_nothing_to_a_client_that_speaks_in_clear) {
    const auto port = listen_with(make_certificate(folder_, "a"));
    test::raw_http clear(port);
    clear.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_THROW((void)clear.receive(), std::runtime_error);
}

TEST_F(tls_test, gives_up_a_client_that_does_not_agree_on_tls_in_time) {
    const auto port = listen_with(make_certificate(folder_, "a"), {.header_timeout = 20ms});
    test::raw_http silent(port);
    EXPECT_TRUE(silent.is_closed_by_peer());
}

TEST_F(tls_test, carries_large_bodies_and_many_requests_on_one_connection) {
    const auto made = make_certificate(folder_, "a");
    const auto port = listen_with(made);
    auto channel = http_channel::open(client_parts(trusting(made)),
                                      "https://127.0.0.1:" + std::to_string(port),
                                      {.pool = {.connections_max = 1}})
                       .value();
    const std::string body(std::size_t{1} << 20, 'x');
    std::vector<std::future<result<wire_reply>>> replies;
    for (int i = 0; i < 10; ++i)
        replies.push_back(
            start(threads_.executor(),
                  channel->exchange({.path = "/" + std::to_string(i), .body = body})));
    for (int i = 0; i < 10; ++i) {
        const auto reply = replies[static_cast<std::size_t>(i)].get();
        ASSERT_TRUE(reply) << reply.error().what();
        EXPECT_EQ(reply->body, "POST /" + std::to_string(i) + " " + body);
    }
}

TEST_F(tls_test, shows_a_new_certificate_to_new_connections_once_reloaded) {
    const auto before = make_certificate(folder_, "a");
    const auto port = listen_with(before);
    const auto old_trust = trusting(before);
    const auto after = make_certificate(folder_, "a");
    EXPECT_TRUE(ask(https(port), old_trust));  // The files alone change nothing.
    EXPECT_TRUE(tls_->reload());
    EXPECT_TRUE(ask(https(port), trusting(after)));
    EXPECT_FALSE(ask(https(port), old_trust));
}

TEST_F(tls_test, keeps_its_certificate_where_the_new_one_is_no_good) {
    const auto made = make_certificate(folder_, "a");
    const auto port = listen_with(made);
    const auto trust = trusting(made);
    overwrite(made.certificate, "no certificate");
    const auto reloaded = tls_->reload();
    ASSERT_FALSE(reloaded);
    EXPECT_EQ(reloaded.error().code(), error_code::certificate_unusable);
    EXPECT_TRUE(ask(https(port), trust));
}

struct refusal_case {
    certificate_files files;
    std::string named;
    std::string_view advice;
};

TEST_F(tls_test, says_which_file_is_no_good_and_what_to_do) {
    const auto good = make_certificate(folder_, "good");
    const auto other = make_certificate(folder_, "other");
    const auto old = make_certificate(folder_, "old", {.valid_from = -2h, .valid_until = -1h});
    const auto early = make_certificate(folder_, "early", {.valid_from = 1h, .valid_until = 2h});
    const auto locked = make_certificate(folder_, "locked", {.pass_phrase = "secret"});
    const auto missing = folder_.file("missing");
    const auto garbage = folder_.file("garbage");
    const auto empty = folder_.file("empty");
    overwrite(garbage, "garbage");
    overwrite(empty, "");
    for (const auto& each : {
             refusal_case{{missing, good.key}, missing, "correct the path"},
             refusal_case{{good.certificate, missing}, missing, "correct the path"},
             refusal_case{{empty, good.key}, empty, "it is empty"},
             refusal_case{{garbage, good.key}, garbage, "must be PEM"},
             refusal_case{{good.certificate, garbage}, garbage, "give both from one request"},
             refusal_case{{good.certificate, other.key}, other.key, "give both from one request"},
             refusal_case{{locked.certificate, locked.key}, locked.key, "without a pass phrase"},
             refusal_case{{old.certificate, old.key}, old.certificate, "has expired; renew it"},
             refusal_case{{early.certificate, early.key}, early.certificate, "not valid yet"},
         }) {
        SCOPED_TRACE(each.named);
        const auto refused = load(each.files);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code(), error_code::certificate_unusable);
        EXPECT_THAT(refused.error().what(), HasSubstr(each.named));
        EXPECT_THAT(refused.error().what(), HasSubstr(each.advice));
    }
}

TEST_F(tls_test, says_which_authority_cannot_be_used) {
    overwrite(folder_.file("garbage"), "garbage");
    for (const std::string name : {"garbage", "missing"}) {
        const auto refused = make_tls_client(folder_.file(name));
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code(), error_code::certificate_unusable);
        EXPECT_THAT(refused.error().what(), HasSubstr(folder_.file(name)));
    }
}

}  // namespace
}  // namespace posthorn
