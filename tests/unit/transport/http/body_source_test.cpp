#include "transport/http/body_source.hpp"

#include <atomic>

#include <gmock/gmock.h>

#include "base/async/bell.hpp"
#include "support/eventually.hpp"
#include "unit/transport/http/http_fixture.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using test::eventually;
using test::raw_http;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view get = "GET /live HTTP/1.1\r\nHost: x\r\n\r\n";

/// Gives what the test puts there, then waits; or one piece after the other without an end.
class test_source final : public http_body_source {
public:
    explicit test_source(std::string endless = {}) : endless_(std::move(endless)) {}

    task<std::optional<std::string>> next() override {
        if (!ended_ && !endless_.empty()) {
            ++asked;
            co_return endless_;
        }
        while (!ended_) {
            {
                const std::scoped_lock lock(mutex_);
                if (!pieces_.empty()) {
                    auto first = std::move(pieces_.front());
                    pieces_.erase(pieces_.begin());
                    co_return first;
                }
            }
            co_await bell_.wait();
        }
        co_return std::nullopt;
    }
    void end() override {
        ended_ = true;
        bell_.ring();
    }
    [[nodiscard]] std::chrono::milliseconds patience() const override { return 50ms; }
    void gave_up() override { ++given_up; }

    void put(std::string piece) {
        const std::scoped_lock lock(mutex_);
        pieces_.push_back(std::move(piece));
        bell_.ring();
    }

    std::atomic<int> given_up = 0;
    std::atomic<int> asked = 0;
    [[nodiscard]] bool has_ended() const { return ended_; }

private:
    std::string endless_;
    std::mutex mutex_;
    std::vector<std::string> pieces_;
    bell bell_;
    std::atomic<bool> ended_ = false;
};

class http_pieces : public test::http_fixture {
protected:
    std::uint16_t serve() {
        return listen([this](http_request) -> task<http_response> {
            http_response response{.status = 200, .headers = {}, .body = {}};
            response.pieces = source;
            co_return response;
        });
    }

    std::shared_ptr<test_source> source = std::make_shared<test_source>();
};

TEST_F(http_pieces, go_out_as_they_come_and_the_connection_stays) {
    raw_http peer(serve());
    peer.send(get);
    const auto head = peer.receive_until("\r\n\r\n");
    EXPECT_THAT(head, HasSubstr("Transfer-Encoding: chunked"));
    EXPECT_THAT(head, Not(HasSubstr("Content-Length")));
    source->put("first");
    EXPECT_EQ(peer.receive_until("first\r\n"), "5\r\nfirst\r\n");
    source->put("second piece");
    EXPECT_EQ(peer.receive_until("piece\r\n"), "c\r\nsecond piece\r\n");
    source->end();
    EXPECT_EQ(peer.receive_until("0\r\n\r\n"), "0\r\n\r\n");
    source = std::make_shared<test_source>();
    source->put("again");
    peer.send(get);
    EXPECT_THAT(peer.receive_until("again\r\n"), HasSubstr("200 OK"));
}

TEST_F(http_pieces, end_with_the_connection_for_a_peer_of_http_1_0) {
    raw_http peer(serve());
    peer.send("GET /live HTTP/1.0\r\n\r\n");
    source->put("first");
    EXPECT_THAT(peer.receive_until("first"), Not(HasSubstr("chunked")));
    source->end();
    EXPECT_TRUE(peer.is_closed_by_peer());
}

TEST_F(http_pieces, are_not_made_for_one_who_asks_for_the_head_alone) {
    raw_http peer(serve());
    peer.send("HEAD /live HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(peer.receive(true).status, 200);
}

TEST_F(http_pieces, stop_for_a_peer_that_does_not_read) {
    source = std::make_shared<test_source>(std::string(1 << 16, 'x'));
    raw_http peer(serve());
    peer.send(get);
    EXPECT_TRUE(eventually([&] { return source->given_up == 1; }));
    EXPECT_TRUE(source->has_ended());
    EXPECT_LT(source->asked, 1000);  // What the network took in, and one piece that waited.
}

TEST_F(http_pieces, end_when_the_peer_is_gone) {
    {
        raw_http peer(serve());
        peer.send(get);
        source->put("first");
        EXPECT_THAT(peer.receive_until("first\r\n"), EndsWith("first\r\n"));
    }
    EXPECT_TRUE(eventually([&] {
        source->put("more");
        return source->has_ended();
    }));
    EXPECT_EQ(source->given_up, 0);
}

TEST_F(http_pieces, end_when_the_server_stops) {
    raw_http peer(serve());
    peer.send(get);
    source->put("first");
    EXPECT_THAT(peer.receive_until("first\r\n"), EndsWith("first\r\n"));
    stop_servers(10s);
    EXPECT_TRUE(source->has_ended());
    EXPECT_EQ(peer.receive_until("0\r\n\r\n"), "0\r\n\r\n");
    EXPECT_TRUE(peer.is_closed_by_peer());
}

}  // namespace
}  // namespace posthorn
