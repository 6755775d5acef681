#include <filesystem>
#include <future>
#include <string>

#include <gtest/gtest.h>
#include <stdlib.h>

#include <posthorn/async.hpp>
#include <posthorn/proxy.hpp>

namespace posthorn {
namespace {

using namespace std::chrono_literals;

constexpr auto long_enough = 30s;

struct moved {
    uuid id;
    std::string who;
};
POSTHORN_SIGNAL(moved, "Moved", id, who)
POSTHORN_ID(moved, id)

struct contract {
    std::string number;
    bool operator==(const contract&) const = default;
};
POSTHORN_STRUCT(contract, number)

struct hire {
    std::string who;
};
POSTHORN_COMMAND(hire, "Hire", contract, who)

struct dismiss {
    std::string who;
};
POSTHORN_COMMAND(dismiss, "Dismiss", void, who)

struct called {
    std::string what;
};
POSTHORN_PUSH_CALL(called, "Called", what)

using emp = service<"emp", 1, hire, dismiss, moved>;
using emp_v2 = service<"emp", 2, hire>;

/// Two nodes of one process: `desk` calls, `emp` handles.
class typed_messages : public testing::Test {
protected:
    typed_messages() {
        std::string pattern = (std::filesystem::temp_directory_path() / "typed_XXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
        desk.emplace(options("desk", {{"emp", "inprocess:"}}));
        office.emplace(options("emp", {{"desk", "inprocess:"}}));
    }
    ~typed_messages() override {
        desk.reset();
        office.reset();
        std::filesystem::remove_all(folder_);
    }
    void start() {
        office->start();
        desk->start();
    }
    node_options options(std::string service, decltype(node_options::routes) routes = {}) {
        return {.service = service,
                .store = {.database = folder_ + "/" + service + ".db"},
                .routes = std::move(routes),
                .retry = {.backoff = fixed_backoff{10ms}},
                .log_sink = [](std::string_view) {}};
    }
    static error_code code_of(const std::function<void()>& call, std::string_view says) {
        try {
            call();
        } catch (const error& why) {
            EXPECT_NE(std::string_view(why.what()).find(says), std::string_view::npos)
                << why.what();
            return why.code();
        }
        ADD_FAILURE() << "nothing was refused";
        return {};
    }

    std::string folder_;
    std::optional<node> desk;
    std::optional<node> office;
};

TEST_F(typed_messages, reach_a_typed_handler_from_node_transaction_and_context) {
    std::promise<std::string> first, last;
    office->handle<called>(
        [](context& c, const called& m) { c.send("desk", moved{{}, m.what + " by context"}); });
    office->handle_external<moved>([&](const moved& m) { first.set_value(m.who); });
    desk->handle_external<moved>([&](const message& m, const moved& payload) {
        last.set_value(payload.who + " as " + m.endpoint);
    });
    start();
    desk->send("emp", moved{{}, "ann"});
    desk->transact([](transaction& tx) { tx.send("emp", called{"bob"}); });
    EXPECT_EQ(first.get_future().get(), "ann");
    EXPECT_EQ(last.get_future().get(), "bob by context as Moved");
}

TEST_F(typed_messages, carry_the_type_that_they_are_described_with) {
    std::promise<message> signal, command, push;
    office->handle_external("Moved", [&](const message& m) { signal.set_value(m); });
    office->handle_external("Hire", [&](const message& m) { command.set_value(m); });
    office->handle_external("Called", [&](const message& m) { push.set_value(m); });
    start();
    desk->send("emp", moved{{}, "ann"}, {.order_key = "k"});
    desk->send("emp", hire{"bob"});
    desk->send("emp", called{"x"});
    const auto seen = signal.get_future().get();
    EXPECT_EQ(seen.type, message_type::signal);
    EXPECT_EQ(seen.order_key, "k");
    EXPECT_EQ(seen.payload, R"({"id":"00000000-0000-0000-0000-000000000000","who":"ann"})");
    EXPECT_EQ(command.get_future().get().type, message_type::command);
    EXPECT_EQ(push.get_future().get().type, message_type::push_call);
}

TEST_F(typed_messages, are_sent_under_the_id_that_the_event_has_itself) {
    const auto own = *uuid::parse("018f3b1c-0000-7000-8000-000000000001");
    EXPECT_EQ(desk->send("emp", moved{own, "ann"}), own);
    EXPECT_EQ(code_of([&] { desk->send("emp", moved{own, "ann"}); }, "id"),
              error_code::duplicate_id);
}

TEST_F(typed_messages, that_do_not_fit_are_buried_with_the_path) {
    std::promise<std::string> seen;
    office->handle<moved>([](context&, const moved&) {});
    auto watched = options("watch", {{"emp", "inprocess:"}});
    watched.log_level = "error";
    watched.log_sink = [&, done = false](std::string_view line) mutable {
        if (!std::exchange(done, true)) seen.set_value(std::string(line));
    };
    node sender(watched);
    office->start();
    sender.start();
    sender.send("emp", "Moved", R"({"id":"018f3b1c-0000-7000-8000-000000000001","who":7})");
    const auto line = seen.get_future().get();
    EXPECT_NE(line.find("who is a number, not text"), line.npos) << line;
}

TEST_F(typed_messages, are_answered_by_a_durable_response) {
    office->handle<hire>([](context&, const hire& m) { return contract{"c-" + m.who}; });
    office->handle_external<dismiss>([](const dismiss&) {});
    start();
    auto hired = desk->call("emp", hire{"ann"}, {.correlation_id = "file 7"});
    auto dismissed = desk->call("emp", dismiss{"bob"});
    EXPECT_EQ(hired.get(long_enough), contract{"c-ann"});
    dismissed.get(long_enough);
    EXPECT_EQ(office->stats().pending + office->stats().sent, 2);  // The two Responses, as rows.
}

TEST_F(typed_messages, bring_the_response_to_a_handler_that_outlives_the_caller) {
    std::promise<contract> seen;
    office->handle<hire>([](context&, const hire& m) { return contract{m.who}; });
    office->start();
    desk->send("emp", hire{"ann"});
    desk.reset();  // The caller is gone; its Command is on disk.
    desk.emplace(options("desk", {{"emp", "inprocess:"}}));
    desk->handle_response<hire>([&](context&, const contract& c) { seen.set_value(c); });
    EXPECT_EQ(code_of([&] { static_cast<void>(desk->call("emp", hire{"bob"})); }, "Hire"),
              error_code::invalid_argument);
    desk->start();
    EXPECT_EQ(seen.get_future().get(), contract{"ann"});
}

TEST_F(typed_messages, tell_a_caller_when_no_response_comes_or_the_node_stops) {
    start();
    auto waiting = desk->call("emp", hire{"ann"});
    EXPECT_FALSE(waiting.is_ready());
    EXPECT_EQ(code_of([&] { waiting.get(1ms); }, "yet"), error_code::timed_out);
    EXPECT_EQ(code_of(
                  [&] {
                      static_cast<void>(desk->call("emp", hire{"ann"}, {.correlation_id = "one"}));
                      auto first = desk->call("emp", hire{"ann"}, {.correlation_id = "one"});
                      auto second = desk->call("emp", hire{"ann"}, {.correlation_id = "one"});
                  },
                  "correlation id"),
              error_code::invalid_argument);
    desk->stop();
    EXPECT_EQ(code_of([&] { waiting.get(); }, "stopped"), error_code::closed);
}

TEST_F(typed_messages, of_a_service_are_routed_by_its_version) {
    struct personnel {
        contract handle(context&, const hire& m) { return {"v1 " + m.who}; }
        void handle(context&, const dismiss&) {}
        void handle(context&, const moved&) {}
    } handling;
    offer<emp> first(*office, handling);
    offer<emp_v2>(*office).handle<hire>(
        [](context&, const hire& m) { return contract{"v2 " + m.who}; });
    proxy<emp> old_way(*desk);
    proxy<emp_v2> new_way(*desk);
    start();
    EXPECT_EQ(old_way.call(hire{"ann"}).get(long_enough), contract{"v1 ann"});
    EXPECT_EQ(new_way.call(hire{"ann"}).get(long_enough), contract{"v2 ann"});
    old_way.send(moved{{}, "bob"});
    desk->transact([&](transaction& tx) { old_way.send(tx, dismiss{"bob"}); });
}

TEST_F(typed_messages, are_refused_at_start_where_a_proxy_has_no_route) {
    proxy<service<"billing", 3, hire>> lost(*desk);
    EXPECT_EQ(code_of([&] { desk->start(); }, "billing/v3 sends to 'billing', which has no route"),
              error_code::invalid_configuration);
}

TEST_F(typed_messages, are_refused_at_start_where_an_offer_lacks_a_handler) {
    offer<emp> offered(*office);
    offered.handle<hire>([](context&, const hire&) { return contract{}; });
    EXPECT_EQ(code_of([&] { office->start(); }, "nothing handles emp/v1/Dismiss"),
              error_code::invalid_configuration);
    offered.handle<dismiss>([](context&, const dismiss&) {})
        .handle<moved>([](context&, const moved&) {});
    office->start();
}

TEST_F(typed_messages, of_a_service_can_be_handled_outside_of_the_database) {
    std::promise<std::string> told;
    offer<emp> offered(*office);
    offered.handle_external<hire>([](const hire& m) { return contract{"ext " + m.who}; })
        .handle_external<dismiss>([](const message&, const dismiss&) {}, {.lease = 5s})
        .handle_external<moved>([&](const message& m, const moved& payload) {
            told.set_value(payload.who + " as " + m.endpoint);
        });
    proxy<emp> employees(*desk);
    start();
    EXPECT_EQ(employees.call(hire{"ann"}).get(long_enough), contract{"ext ann"});
    employees.call(dismiss{"ann"}).get(long_enough);
    employees.send(moved{{}, "bob"});
    EXPECT_EQ(told.get_future().get(), "bob as emp/v1/Moved");
}

TEST_F(typed_messages, by_name_to_an_unknown_destination_are_taken_and_wait) {
    desk->start();
    desk->send("nowhere", moved{{}, "ann"});
    EXPECT_EQ(desk->stats().pending, 1);
}

struct fire_and_forget {
    struct promise_type {
        fire_and_forget get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
};

TEST_F(typed_messages, that_cannot_be_stored_fail_the_reply_that_waits) {
    const auto own = desk->send("emp", hire{"ann"});
    auto again = desk->call_later("emp", hire{"ann"}, {.id = own});
    EXPECT_EQ(code_of([&] { again.get(); }, "id"), error_code::duplicate_id);
}

TEST_F(typed_messages, say_which_response_does_not_fit) {
    office->handle("Hire", [](context&, const message&) { return R"({"number":7})"; });
    start();
    auto waiting = desk->call("emp", hire{"ann"});
    EXPECT_EQ(code_of([&] { waiting.get(long_enough); },
                      "the response to Hire does not fit: number is a number, not text"),
              error_code::invalid_payload);
}

TEST_F(typed_messages, cannot_be_waited_for_inside_a_transaction) {
    start();
    auto waiting = desk->call("emp", hire{"ann"});
    EXPECT_EQ(code_of([&] { desk->transact([&](transaction&) { waiting.get(); }); }, ""),
              error_code::called_in_transaction);
}

TEST_F(typed_messages, can_be_awaited) {
    office->handle<hire>([](context&, const hire& m) { return contract{m.who}; });
    start();
    std::promise<contract> seen;
    [](node& from, std::promise<contract>& to) -> fire_and_forget {
        static_cast<void>(co_await async::send(from, "emp", hire{"first"}));
        to.set_value(co_await async::call(from, "emp", hire{"second"}));
    }(*desk, seen);
    EXPECT_EQ(seen.get_future().get(), contract{"second"});
}

TEST_F(typed_messages, of_a_service_can_be_awaited) {
    std::promise<std::string> told;
    offer<emp>(*office)
        .handle<hire>([](context&, const hire& m) { return contract{m.who}; })
        .handle<dismiss>([](context&, const dismiss&) {})
        .handle<moved>([&](context&, const moved& m) { told.set_value(m.who); });
    proxy<emp> employees(*desk);
    start();
    std::promise<contract> seen;
    [](proxy<emp>& to, std::promise<contract>& hired) -> fire_and_forget {
        static_cast<void>(co_await async::send(to, moved{{}, "ann"}));
        co_await async::call(to, dismiss{"bob"}).within(long_enough);
        hired.set_value(co_await async::call(to, hire{"cal"}, {.order_key = "k"}));
    }(employees, seen);
    EXPECT_EQ(told.get_future().get(), "ann");
    EXPECT_EQ(seen.get_future().get(), contract{"cal"});
}

TEST_F(typed_messages, are_awaited_no_longer_than_they_may_take) {
    proxy<emp> employees(*desk);
    desk->start();  // Nobody else does.
    std::promise<error_code> by_proxy, by_node;
    const auto wait = [](auto call, std::promise<error_code>& to) -> fire_and_forget {
        try {
            co_await std::move(call).within(1ms);
        } catch (const error& why) {
            to.set_value(why.code());
        }
    };
    wait(async::call(employees, hire{"ann"}), by_proxy);
    wait(async::call(*desk, "emp", dismiss{"ann"}), by_node);
    EXPECT_EQ(by_proxy.get_future().get(), error_code::timed_out);
    EXPECT_EQ(by_node.get_future().get(), error_code::timed_out);
}

TEST_F(typed_messages, end_their_wait_once_when_the_node_stops_before_the_time_is_over) {
    proxy<emp> employees(*desk);
    desk->start();
    std::promise<error_code> seen;
    [](proxy<emp>& to, std::promise<error_code>& ended) -> fire_and_forget {
        try {
            co_await async::call(to, hire{"ann"}).within(std::chrono::hours{1});
        } catch (const error& why) {
            ended.set_value(why.code());  // A second time would throw.
        }
    }(employees, seen);
    desk->stop();
    EXPECT_EQ(seen.get_future().get(), error_code::closed);
}

}  // namespace
}  // namespace posthorn
