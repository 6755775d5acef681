#include "message/metadata.hpp"

#include <gtest/gtest.h>

#include <posthorn/service.hpp>

namespace posthorn {
namespace {

struct hired {
    std::string number;
};
POSTHORN_STRUCT(hired, number)
struct hire {
    std::string who;
    std::optional<std::int32_t> age;
};
POSTHORN_COMMAND(hire, "Hire", hired, who, age)
struct moved {
    uuid whom;
};
POSTHORN_PUSH_CALL(moved, "Moved", whom)
using emp = service<"emp", 12, hire, moved>;

struct many {
    int a, b, c, d, e, f, g, h, i, j, k, l;
};
POSTHORN_STRUCT(many, (a, "A"), (b, "B"), (c, "C"), (d, "D"), (e, "E"), (f, "F"), (g, "G"),
                (h, "H"), (i, "I"), (j, "J"), (k, "K"), (l, "L"))

TEST(metadata, of_a_type_may_give_every_field_another_name) {
    EXPECT_EQ(encode(many{}), R"({"A":0,"B":0,"C":0,"D":0,"E":0,"F":0,"G":0,"H":0,"I":0,"J":0,)"
                              R"("K":0,"L":0})");
}

TEST(metadata, of_a_service_stands_in_the_program_as_json) {
    EXPECT_EQ(emp::contract(),
              R"({"name":"emp","version":12,"interface":"emp/v12","messages":[)"
              R"({"name":"Hire","endpoint":"emp/v12/Hire","type":"Command","request":)" +
                  schema_of<hire>() + R"(,"response":)" + json_schema<hired>() + R"(},)" +
                  R"({"name":"Moved","endpoint":"emp/v12/Moved","type":"PushCall","request":)" +
                  schema_of<moved>() + R"(,"response":null}]})");
    static_assert(emp::contract().starts_with(R"({"name":"emp")"), "it is a constant");
}

TEST(metadata, is_found_in_a_program_without_running_it) {
    const std::string begin(detail::contract_begin);
    const auto contract = std::string(emp::contract());
    const std::string program = std::string(
                                    "\x7f"
                                    "ELF\0\0",
                                    6) +
                                begin + contract + '\x03' + "more" + begin + "not json\x03" +
                                begin + contract + '\x03' + begin + R"({"name":"other"})" + '\x03' +
                                begin + "{\"cut\":1";
    EXPECT_EQ(find_contracts(program), (std::vector<std::string>{contract, R"({"name":"other"})"}));
    EXPECT_TRUE(find_contracts("").empty());
    EXPECT_TRUE(find_contracts(begin).empty());
}

TEST(metadata, of_a_node_names_its_service_interfaces_and_endpoints) {
    EXPECT_EQ(render_metadata({.service = "hr",
                               .version = "9.8.7",
                               .contracts = {R"({"name":"emp"})", R"({"name":"pay"})"},
                               .endpoints = {"Ask \"me\""}}),
              R"({"metadata":1,"service":"hr","version":"9.8.7","interfaces":[{"name":"emp"},)"
              R"({"name":"pay"}],"endpoints":["Ask \"me\""]})");
}

}  // namespace
}  // namespace posthorn
