#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workflow/binary/compatibility.hpp"
#include "workflow/binary/version_life.hpp"

namespace posthorn {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using enum deployed_state;

constexpr std::string_view number_schema =
    R"({"type":"object","properties":{"n":{"type":"integer"}}})";

manifest_service billing(std::string request = std::string(number_schema),
                         std::string response = "null") {
    return {.name = "billing",
            .version = 1,
            .interface = "billing/v1",
            .messages = {{.name = "Charge",
                          .endpoint = "billing/v1/Charge",
                          .type = "Command",
                          .request = {std::move(request)},
                          .response = {std::move(response)}}}};
}
binary_manifest calls_billing() { return {.services = {billing()}}; }

std::vector<interface_mismatch> mismatches(const std::vector<offered_interface>& offered) {
    return find_mismatches(calls_billing(), offered);
}

TEST(compatibility, is_with_active_services_that_say_the_same) {
    EXPECT_THAT(mismatches({{billing(), true}}), IsEmpty());
    EXPECT_THAT(mismatches({{billing(), false}, {billing(), true}}), IsEmpty());
    const std::string in_another_order =
        R"({"$schema":"x","title":"Charge","properties":{"n":{"type":"integer"}},"type":"object"})";
    EXPECT_THAT(mismatches({{billing(in_another_order), true}}), IsEmpty());
    EXPECT_THAT(find_mismatches({}, {}), IsEmpty());
}

TEST(compatibility, names_all_that_does_not_fit) {
    using enum mismatch_kind;
    const std::string endpoint = "billing/v1/Charge";
    EXPECT_THAT(mismatches({}), ElementsAre(interface_mismatch{not_offered, "billing/v1", ""}));
    EXPECT_THAT(mismatches({{billing(), false}}),
                ElementsAre(interface_mismatch{not_active, "billing/v1", ""}));
    auto other = billing();
    other.messages[0].endpoint = "billing/v1/Refund";
    EXPECT_THAT(mismatches({{other, true}}),
                ElementsAre(interface_mismatch{lacks_message, "billing/v1", endpoint}));
    EXPECT_THAT(mismatches({{billing("{}"), true}}),
                ElementsAre(interface_mismatch{other_request, "billing/v1", endpoint}));
    EXPECT_THAT(mismatches({{billing(std::string(number_schema), "{}"), true}}),
                ElementsAre(interface_mismatch{other_response, "billing/v1", endpoint}));
    EXPECT_THAT(mismatches({{billing("{"), true}}),
                ElementsAre(interface_mismatch{other_request, "billing/v1", endpoint}));
    other.interface = "billing/v2";
    EXPECT_EQ(in_words(mismatches({{other, true}})[0]), "billing/v1 is offered by no service");
}

TEST(compatibility, takes_a_field_called_title_for_a_field) {
    const std::string with_title =
        R"({"type":"object","properties":{"n":{"type":"integer"},"title":{"type":"string"}}})";
    EXPECT_EQ(mismatches({{billing(with_title), true}}).size(), 1U);
}

deployed_version row(unsigned version, deployed_state state, std::int64_t open = 0,
                     std::int64_t activated_at = 0) {
    return {.workflow = "Pay",
            .version = version,
            .binary = "sha" + std::to_string(version),
            .state = state,
            .open = open,
            .activated_at = activated_at};
}
version_change to(unsigned version, deployed_state state) { return {"Pay", version, state}; }
binary_manifest with_version(unsigned version) {
    return {.workflows = {{.name = "Pay", .version = version}}};
}

TEST(version_life, keeps_an_upload_as_inactive_and_once) {
    EXPECT_THAT(*plan_upload({}, with_version(1), "sha1"), ElementsAre(to(1, inactive)));
    const std::vector known{row(1, active, 5, 10)};
    EXPECT_THAT(*plan_upload(known, with_version(1), "sha1"), IsEmpty());
    EXPECT_THAT(*plan_upload(known, with_version(2), "sha2"), ElementsAre(to(2, inactive)));
    EXPECT_EQ(plan_upload(known, with_version(1), "other").error().code(), error_code::id_reused);
}

TEST(version_life, gives_new_instances_to_one_version_and_lets_open_ones_go_on) {
    const std::vector busy{row(1, active, 5, 10), row(2, inactive)};
    EXPECT_THAT(*plan_activation(busy, "Pay", 2), ElementsAre(to(1, draining), to(2, active)));
    const std::vector idle{row(1, active, 0, 10), row(2, inactive)};
    EXPECT_THAT(*plan_activation(idle, "Pay", 2), ElementsAre(to(1, drained), to(2, active)));
    EXPECT_THAT(*plan_activation(busy, "Pay", 1), IsEmpty());
    EXPECT_EQ(plan_activation(busy, "Pay", 3).error().code(), error_code::not_found);
    EXPECT_EQ(plan_activation(busy, "Other", 1).error().code(), error_code::not_found);
}

TEST(version_life, rolls_back_to_the_one_that_was_active_before) {
    const std::vector known{row(1, drained, 0, 10), row(2, draining, 3, 20), row(3, active, 1, 30),
                            row(4, inactive)};
    EXPECT_THAT(*plan_roll_back(known, "Pay"), ElementsAre(to(3, draining), to(2, active)));
    const std::vector first{row(1, active, 0, 10), row(2, inactive)};
    EXPECT_EQ(plan_roll_back(first, "Pay").error().code(), error_code::not_found);
}

TEST(version_life, is_drained_when_none_is_open) {
    const std::vector known{row(1, draining, 1), row(2, draining), row(3, active),
                            row(4, inactive)};
    EXPECT_THAT(plan_drained(known), ElementsAre(to(2, drained)));
    EXPECT_TRUE(is_runner_needed(known, "sha1"));
    EXPECT_TRUE(is_runner_needed(known, "sha3"));
    EXPECT_FALSE(is_runner_needed(known, "sha4"));
    const std::vector done{row(1, drained), row(2, drained, 1)};
    EXPECT_FALSE(is_runner_needed(done, "sha1"));
    EXPECT_TRUE(is_runner_needed(done, "sha2"));  // Whatever its row says, one is open.
}

}  // namespace
}  // namespace posthorn
