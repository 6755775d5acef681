#pragma once

#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/async/virtual_time.hpp"
#include "support/name_server.hpp"
#include "transport/http/guarded/guarded_client.hpp"
#include "unit/transport/http/guarded/stranger.hpp"

namespace posthorn::test {

/// A guarded client, strangers' servers and a name server. Sockets are real; time passes only when
/// the test says so. 127.0.0.1 is allowed and stands for a public server; other addresses of this
/// machine stand for what must not be reached.
class guarded_fixture : public testing::Test {
protected:
    guarded_fixture() {
        options_.rules = {.plain_http = true, .allow = {ip_network::parse("127.0.0.1").value()}};
    }
    ~guarded_fixture() override { finish(); }

    guarded_client& client() {
        if (!client_)
            client_ = std::make_unique<guarded_client>(
                guarded_client::deps{loop_.get_executor(), tasks_, time_, time_, names_, tls_},
                options_);
        return *client_;
    }

    stranger& listen(stranger::script each, std::shared_ptr<tls_context> tls = nullptr) {
        strangers_.push_back(std::make_unique<stranger>(loop_, *servers_, std::move(each), tls));
        return *strangers_.back();
    }

    /// A server that answers every request with this text.
    stranger& answering(std::string answer, std::shared_ptr<tls_context> tls = nullptr) {
        return listen(
            [this, answer](std::shared_ptr<stranger_line> line) -> task<> {
                for (;;) {
                    auto request = co_await line->hear();
                    if (request.empty()) co_return;
                    heard_.push_back(std::move(request));
                    if (!co_await line->say(answer)) co_return;
                }
            },
            std::move(tls));
    }

    std::future<guarded_answer> begin(guarded_request request) {
        return start(loop_.get_executor(), client().send(std::move(request)));
    }
    std::future<guarded_answer> begin(const std::string& url) {
        return begin(guarded_request{.url = url, .body = "{}"});
    }

    guarded_answer finish(std::future<guarded_answer> begun) {
        pump([&] { return is_ready(begun); });
        return begun.get();
    }
    guarded_answer send(const std::string& url) { return finish(begin(url)); }

    static bool is_ready(const std::future<guarded_answer>& begun) {
        return begun.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    }

    /// Runs what is ready until the condition holds, without moving the time.
    template <class Condition>
    void pump(Condition holds) {
        while (!holds()) {
            loop_.restart();
            loop_.run_one();
        }
    }
    void settle() {
        loop_.restart();
        loop_.poll();
    }
    /// Lets time pass, a second at a time, until it is answered.
    guarded_answer wait_for(std::future<guarded_answer> begun) {
        for (settle(); !is_ready(begun); settle()) time_.advance(std::chrono::seconds(1));
        return begun.get();
    }

    static std::string url(const stranger& of, const std::string& host = "127.0.0.1",
                           const std::string& scheme = "http") {
        return scheme + "://" + host + ":" + std::to_string(of.port()) + "/hook";
    }

    void says(const std::string& name, std::vector<std::string> addresses) {
        const std::lock_guard lock(mutex_);
        told_[name] = std::move(addresses);
    }

    /// Ends all; another client and other servers may follow.
    void finish() {
        // On the loop: from elsewhere Asio posts a cancellation, which may come too late.
        const auto end = [this]() -> task<> {
            if (client_) client_->stop();
            servers_->cancel();
            co_await servers_->join();
            co_await tasks_.join();
        };
        run(end());
        servers_ = std::make_unique<task_group>(loop_.get_executor());
        client_.reset();
        strangers_.clear();
        loop_.restart();
        loop_.poll();
    }

    void run(task<> body) {
        auto done = start(loop_.get_executor(), std::move(body));
        while (done.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
            loop_.restart();
            loop_.run_one();
        }
        done.get();
    }

    static constexpr std::string_view ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

    boost::asio::io_context loop_{1};
    virtual_time time_;
    task_group tasks_{loop_.get_executor()};
    std::unique_ptr<task_group> servers_ = std::make_unique<task_group>(loop_.get_executor());
    std::mutex mutex_;
    std::map<std::string, std::vector<std::string>> told_;
    name_server server_{[this](const std::string& name) {
        const std::lock_guard lock(mutex_);
        name_server::reply reply;
        const auto found = told_.find(name);
        if (found == told_.end()) {
            reply.code = 3;
            return reply;
        }
        for (const auto& each : found->second)
            reply.addresses.push_back(boost::asio::ip::make_address(each));
        reply.silent = reply.addresses.empty();
        return reply;
    }};
    resolver names_{time_, {.servers = {server_.address()}}};
    std::shared_ptr<tls_context> tls_;
    guarded_client_options options_;
    std::vector<std::string> heard_;
    std::vector<std::unique_ptr<stranger>> strangers_;
    std::unique_ptr<guarded_client> client_;
};

}  // namespace posthorn::test
