#include "engine/rows/call_ids.hpp"

#include <gtest/gtest.h>

namespace posthorn {
namespace {

const auto instance = *uuid::parse("0199a0b1-0000-7000-8000-000000000003");

TEST(call_ids, come_back_from_their_text) {
    const call_name name{instance, 2, 17};
    EXPECT_EQ(to_correlation_id(name), "wf/0199a0b1-0000-7000-8000-000000000003/2/17");
    EXPECT_EQ(parse_correlation_id(to_correlation_id(name)), name);
}

TEST(call_ids, are_not_found_in_other_texts) {
    for (const auto* text :
         {"", "wf/", "wf/x/1/1", "0199a0b1-0000-7000-8000-000000000003/2/17",
          "wf/0199a0b1-0000-7000-8000-000000000003", "wf/0199a0b1-0000-7000-8000-000000000003/1",
          "wf/0199a0b1-0000-7000-8000-000000000003/0/1",
          "wf/0199a0b1-0000-7000-8000-000000000003/1/-1",
          "wf/0199a0b1-0000-7000-8000-000000000003/1/1x",
          "wf/0199a0b1-0000-7000-8000-000000000003/1/99999999999999999999"})
        EXPECT_FALSE(parse_correlation_id(text)) << text;
}

TEST(call_ids, make_one_message_id_for_one_command) {
    const call_name name{instance, 1, 1};
    EXPECT_EQ(id_of(name), id_of(name));
    EXPECT_NE(id_of(name), id_of({instance, 2, 1}));
    EXPECT_NE(id_of(name), id_of({instance, 1, 2}));
    EXPECT_EQ(id_of(name).version(), 8);
}

}  // namespace
}  // namespace posthorn
