// How much a site holds for targets that are out, through the public API.
#include <algorithm>
#include <atomic>
#include <fstream>
#include <limits>
#include <mutex>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <posthorn/error.hpp>
#include <posthorn/node.hpp>

#include "integration/node/fixture.hpp"
#include "support/eventually.hpp"

namespace posthorn::integration {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

class node_forward_limits : public node_test {
protected:
    /// A site whose target answers or does not.
    void start(node& site, forward_category how = {}) {
        how.retry_interval = 50ms;
        site.on_forward_activity([this](const forward_activity& one) {
            const std::scoped_lock lock(mutex_);
            heard_.push_back(one.what);
        });
        site.forward_handler(
            "ExternalSystem",
            [this](const forward_message&) -> bool {
                if (is_out) throw unreachable("no route to host");
                return true;
            },
            how);
        site.start();
    }
    configuration with(const std::string& settings) {
        const auto file = directory.file("site.toml");
        std::ofstream(file) << fmt::format(
            "[service]\nid = \"site\"\n[store]\nurl = \"sqlite:{}\"\n[log]\nlevel = \"error\"\n"
            "[forward]\n{}\n",
            path("site"), settings);
        auto from = load(file);
        from.options.listen = options("site").listen;  // None: the default is the same for all.
        return from;
    }
    static uuid hold(node& site, double value) {
        return site
            .forward("ExternalSystem", "erp", fmt::format("{}", value),
                     {.attempt_now = false, .sample = forward_sample{.key = "t", .value = value}})
            .id;
    }
    static std::string status(node& site, const uuid& id) {
        return site.tracking(id.to_string())->status;
    }
    std::size_t heard(std::string_view what) {
        const std::scoped_lock lock(mutex_);
        return static_cast<std::size_t>(std::ranges::count(heard_, what));
    }
    static std::int64_t held(node& site) {
        return integer(site, "SELECT count(*) FROM sf_messages");
    }

    std::atomic<bool> is_out = true;

private:
    std::mutex mutex_;
    std::vector<std::string> heard_;
};

TEST_F(node_forward_limits, a_cap_refuses_new_work_with_an_error_of_its_own) {
    node site(options("site"));
    start(site, {.max_messages = 2});
    hold(site, 1);
    hold(site, 2);
    EXPECT_EQ(code_of([&] { hold(site, 3); }), error_code::buffer_full);
    execute(site, "CREATE TABLE orders (id INTEGER)");
    site.transact([&](transaction& tx) {
        tx.execute("INSERT INTO orders VALUES (1)");
        EXPECT_EQ(code_of([&] { tx.forward("ExternalSystem", "erp", "{}"); }),
                  error_code::buffer_full);
    });
    EXPECT_EQ(integer(site, "SELECT count(*) FROM orders"), 1) << "the rest commits";
    EXPECT_EQ(held(site), 2);
    is_out = false;
    EXPECT_TRUE(test::eventually([&] { return held(site) == 0; }));
    EXPECT_EQ(code_of([&] { hold(site, 4); }), std::nullopt);
}

TEST_F(node_forward_limits, a_cap_of_bytes_counts_payloads) {
    node site(with("max_bytes = 100"));
    start(site);
    const auto send = [&](std::size_t bytes) {
        site.forward("ExternalSystem", "erp", std::string(bytes, '7'), {.attempt_now = false});
    };
    send(60);
    EXPECT_EQ(code_of([&] { send(41); }), error_code::buffer_full);
    EXPECT_EQ(code_of([&] { send(40); }), std::nullopt);
}

TEST_F(node_forward_limits, a_cap_that_is_taken_back_holds_no_longer) {
    {
        node site(with("max_messages = 1"));
        start(site);
        hold(site, 1);
        EXPECT_EQ(code_of([&] { hold(site, 2); }), error_code::buffer_full);
    }
    node site(with(""));
    start(site);
    EXPECT_EQ(code_of([&] { hold(site, 2); }), std::nullopt);
}

TEST_F(node_forward_limits, the_least_worth_is_dropped_and_each_is_told_of) {
    node site(
        with("max_messages = 5\nwhen_full = \"drop_category\"\n"
             "drop_order = \"Notification\""));
    start(site);
    const auto worth_much = hold(site, 1);
    std::vector<uuid> notes;
    for (int i = 0; i < 8; ++i)
        notes.push_back(site.forward("Notification", "centre", "{}", {.attempt_now = false}).id);
    ASSERT_TRUE(test::eventually([&] { return held(site) == 5; }));
    EXPECT_NE(status(site, worth_much), "Discarded") << "though it is the oldest";
    EXPECT_TRUE(test::eventually([&] { return heard("Dropped") == 4; }));
    EXPECT_EQ(text(site, "SELECT resolution FROM outbox_messages WHERE status = 'Resolved'"),
              "dropped: forward.max_messages or forward.max_bytes is reached");
}

TEST_F(node_forward_limits, samples_within_the_deadband_are_thinned_while_their_target_is_out) {
    node site(options("site"));
    start(site, {.deadband = 1});
    // Those that find out that it is.
    for (int i = 0; i < 12; ++i) hold(site, i * 100);
    std::vector<uuid> ids;
    for (const double value : {5000.0, 5000.5, 5000.9, 5002.0, 5001.5, 5000.0})
        ids.push_back(hold(site, value));
    ASSERT_TRUE(test::eventually([&] { return held(site) == 15; }));
    // What is kept may have been tried since.
    std::vector<bool> is_kept;
    for (const auto& id : ids) is_kept.push_back(status(site, id) != "Discarded");
    EXPECT_THAT(is_kept, ElementsAre(true, false, false, true, false, true));
    EXPECT_EQ(text(site, "SELECT resolution FROM outbox_messages WHERE status = 'Resolved'"),
              "within deadband");
    EXPECT_TRUE(test::eventually([&] { return heard("Thinned") == 3; }));
    is_out = false;
    EXPECT_TRUE(test::eventually([&] { return held(site) == 0; }));
    EXPECT_EQ(integer(site, "SELECT count(*) FROM forward_samples"), 0);
}

TEST_F(node_forward_limits, of_samples_the_last_alone_is_kept_if_the_category_says_so) {
    node site(options("site"));
    start(site, {.keep_last = true});
    for (int i = 0; i < 30; ++i) hold(site, i);
    // One may be on its way to see whether its target answers.
    EXPECT_TRUE(test::eventually([&] { return held(site) <= 2; }));
    EXPECT_EQ(integer(site, "SELECT count(*) FROM sf_messages WHERE payload_json = '29'"), 1);
}

TEST_F(node_forward_limits, a_sample_that_makes_no_sense_is_refused) {
    node site(options("site"));
    start(site);
    const auto send = [&](std::string key, double value) {
        site.forward("ExternalSystem", "erp", "{}",
                     {.sample = forward_sample{.key = std::move(key), .value = value}});
    };
    EXPECT_EQ(code_of([&] { send("", 1); }), error_code::invalid_argument);
    EXPECT_EQ(code_of([&] { send(std::string(256, 'k'), 1); }), error_code::invalid_argument);
    EXPECT_EQ(code_of([&] { send("t", std::numeric_limits<double>::infinity()); }),
              error_code::invalid_argument);
    EXPECT_EQ(held(site), 0);
}

}  // namespace
}  // namespace posthorn::integration
