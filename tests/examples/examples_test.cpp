// The examples print what their texts promise.
#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/process.hpp"
#include "support/sqlite_file.hpp"
#include "support/temporary_directory.hpp"

namespace posthorn {
namespace {

using test::process_end;
using test::run_process;

constexpr process_end exit_0{0, 0};

class example : public testing::Test {
protected:
    static std::string program(const std::string& name) {
        return POSTHORN_EXAMPLES "/example_" + name;
    }
    /// Runs one whose files go into the system's temporary directory, which is ours here.
    void expect_output(const std::string& name, const std::string& expected) const {
        for (int run = 0; run < 2; ++run) {  // It may be run again.
            const auto ran =
                run_process({program(name)}, {.environment = {{"TMPDIR", directory.path()}}});
            EXPECT_EQ(ran.end, exit_0);
            EXPECT_EQ(ran.out, expected);
            EXPECT_EQ(ran.err, "");
        }
    }

    test::temporary_directory directory;
};

TEST_F(example, 1_send_and_handle) { expect_output("1_send_and_handle", "reserved: o1\n"); }

TEST_F(example, 2_transaction) {
    expect_output("2_transaction",
                  "o2 was not ordered: out of stock\n"
                  "o1: 3 items, with ribbon\no3: 2 items, no note\n"
                  "2 messages wait for inventory\n");
}

TEST_F(example, 3_plain_sql) {
    const std::string where = directory.path();
    test::process receiver({program("3_plain_sql"), where});
    ASSERT_EQ(receiver.read_line(), "ready: " + where + "/shop.db") << receiver.err();
    for (const auto* const order : {"o7", "o8"}) {
        const auto produced = run_process({POSTHORN_SOURCE "/examples/3_plain_sql/produce.sh",
                                           where + "/shop.db", order, "1250"});
        EXPECT_EQ(produced.end, exit_0) << produced.err;
        EXPECT_EQ(receiver.read_line(), "invoiced: " + std::string(order) + " over 1250 cents");
    }
    receiver.send_signal(SIGTERM);
    EXPECT_EQ(receiver.wait(), exit_0);
    EXPECT_EQ(receiver.err(), "");
    test::sqlite_file billing(where + "/billing.db");
    EXPECT_EQ(billing.lines("SELECT order_id || ' ' || cents FROM invoices ORDER BY order_id"),
              "o7 1250\no8 1250\n");
}

TEST_F(example, 4_two_services) {
    const std::string folder = directory.path();
    for (const auto* const left : {"7", "4"}) {  // It may be run again.
        const auto ran = run_process({POSTHORN_SOURCE "/examples/4_two_services/run.sh",
                                      program("4_two_services"), POSTHORN_PROGRAM, folder});
        EXPECT_EQ(ran.end, exit_0) << ran.err;
        EXPECT_THAT(ran.out,
                    testing::StartsWith("ordered 3 of tea, " + std::string(left) + " are left\n"));
        EXPECT_THAT(ran.out, testing::HasSubstr("there is not enough tea"));
    }
}

TEST_F(example, 5_any_language) {
    const auto ran = run_process(
        {POSTHORN_SOURCE "/examples/5_any_language/run.sh", POSTHORN_PROGRAM, directory.path()});
    EXPECT_EQ(ran.end, exit_0) << ran.err;
    EXPECT_EQ(ran.out,
              "ordered: o1\nordered: o2\nreserved: o1 tea 3\nreserved: o2 milk 1\n"
              "dear customer, o1 is on its way\ndear customer, o2 is on its way\n"
              "picked: o1\npicked: o2\n");
}

TEST_F(example, 12_site_and_centre) {
    const auto ran = run_process({POSTHORN_SOURCE "/examples/12_site_and_centre/run.sh",
                                  POSTHORN_PROGRAM, directory.path()});
    EXPECT_EQ(ran.end, exit_0) << ran.err;
    EXPECT_EQ(ran.out,
              "the centre is out: 2 held, 1 reading written\nthe centre is back: 0 held\n"
              "notification from plant 7: the press is hot\norder: {\"order\":17}\n"
              "CachedDbWrite of plant 7: Delivered\nExternalSystem of plant 7: Delivered\n");
}

TEST_F(example, 7_command) { expect_output("7_command", "receipt r-o1 over 995 cents\n"); }

TEST_F(example, 8_approval) {
    expect_output("8_approval",
                  "o1: receipt r1, approved by ann\n"
                  "o2: nothing was decided in three days\n"
                  "o3: billing/v1/Charge: the card is blocked\n"
                  "o4: {\"number\":\"r-o4\"}, approved by ann\n");
}

TEST_F(example, 9_fan_out) {
    expect_output("9_fan_out",
                  "3 parcels for 600 cents\nthe best of two offers is 90\n"
                  "100 parcels for 10000 cents\nthe best of two is 90\n");
}

TEST_F(example, 10_subscription) {
    expect_output("10_subscription",
                  "the second month is paid with card 4000-1\n2 months were paid\n"
                  "12 months are a year\nc3 ended, c4 was cancelled: never paid\n");
}

TEST_F(example, 15_for_years) {
    expect_output("15_for_years",
                  "the card is 4000-1 now\n"
                  "refused: a card has a number\n"
                  "37 months in 38 runs\n"
                  "p1;Deliver: it is lost;\n"
                  "rents: 1000 of before, 1030 now\n"
                  "c3 pays with 4000-3\n"
                  "s1: \"p3;p4;\"\n"
                  "c3 has ended after 2 runs\n");
}

}  // namespace
}  // namespace posthorn
