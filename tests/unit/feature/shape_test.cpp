#include "feature/shape.hpp"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

TEST(shape, becomes_a_json_schema) {
    struct row {
        std::string_view shape, schema;
    };
    for (const auto& [shape, schema] : {
             row{"string", R"({"type":"string"})"},
             row{"any", "{}"},
             row{"time", R"({"type":"string","format":"date-time"})"},
             row{"[integer]", R"({"type":"array","items":{"type":"integer"}})"},
             row{"integer | null", R"({"anyOf":[{"type":"integer"},{"type":"null"}]})"},
             row{"'a' | 'b c'", R"({"anyOf":[{"const":"a"},{"const":"b c"}]})"},
             row{"Job", R"({"$ref":"#/components/schemas/Job"})"},
             row{"{}", R"({"type":"object","properties":{}})"},
             row{"{a: string, b?: [Job]}",
                 R"({"type":"object","properties":{"a":{"type":"string"},
                     "b":{"type":"array","items":{"$ref":"#/components/schemas/Job"}}},
                     "required":["a"]})"},
             row{"{n: count}",
                 R"({"type":"object","properties":{"n":{"type":"integer"},
                     "nAtLeast":{"type":"boolean"}},"required":["n"]})"},
             row{"{...Job, If-Match?: string}",
                 R"({"allOf":[{"$ref":"#/components/schemas/Job"},
                     {"type":"object","properties":{"If-Match":{"type":"string"}}}]})"},
         }) {
        const auto made = schema_of(shape);
        ASSERT_TRUE(made) << shape << ": " << made.error().what();
        EXPECT_EQ(*made, boost::json::parse(schema)) << shape;
    }
}

TEST(shape, that_cannot_be_read_is_told_with_its_place) {
    for (const auto* shape : {"", "strin", "[string", "{a string}", "{a: }", "{: string}", "'a",
                              "string string", "{a: string b: string}", "string |", "{...", "{."})
        EXPECT_FALSE(schema_of(shape)) << shape;
    EXPECT_STREQ(schema_of("{a: strin}").error().what(),
                 "the shape '{a: strin}' wants a type at '}'");
}

}  // namespace
}  // namespace posthorn
