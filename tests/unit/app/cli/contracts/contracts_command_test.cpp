#include <filesystem>
#include <fstream>

#include <boost/json/parse.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <posthorn/json/constant.hpp>

#include "app/cli/contracts/contract_header.hpp"
#include "base/result.hpp"
#include "support/temporary_directory.hpp"
#include "unit/app/cli/run.hpp"

namespace posthorn::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view schema = R"({"type":"object","properties":{"who":{"type":"string"}},)"
                                    R"("required":["who"]})";

std::string metadata(std::string_view request = schema, std::string_view name = "Hire") {
    return fmt::format(
        R"({{"metadata":1,"service":"hr","version":"0","interfaces":[{{"name":"emp","version":1,)"
        R"("interface":"emp/v1","messages":[{{"name":"{}","endpoint":"emp/v1/Hire",)"
        R"("type":"Signal","request":{},"response":null}}]}}],"endpoints":[]}})",
        name, request);
}

class contracts : public testing::Test {
protected:
    std::string write(const std::string& name, std::string_view text) const {
        std::ofstream(folder_.file(name), std::ios::binary) << text;
        return folder_.file(name);
    }
    static std::string read(const std::string& file) {
        std::ifstream stream(file);
        return {std::istreambuf_iterator<char>(stream), {}};
    }

    test::temporary_directory folder_;
};

TEST_F(contracts, are_exported_from_a_program_that_is_not_run) {
    const auto program =
        write("program", std::string("\x7f"
                                     "ELF") +
                             std::string(detail::contract_begin) +
                             R"({"name":"emp","version":1,"interface":"emp/v1","messages":[]})" +
                             detail::contract_end);
    const auto printed = run({"contracts", "export", program});
    EXPECT_EQ(printed.code, exit_code::ok) << printed.err;
    EXPECT_THAT(printed.out, HasSubstr(R"("interface":"emp/v1")"));
    const auto none = run({"contracts", "export",
                           write("other",
                                 "\x7f"
                                 "ELF")});
    EXPECT_EQ(none.code, exit_code::failed);
    EXPECT_THAT(none.err, HasSubstr("no contracts stand in"));
}

TEST_F(contracts, are_imported_as_a_header) {
    const auto printed = run({"contracts", "import", write("hr.json", metadata())});
    EXPECT_EQ(printed.code, exit_code::ok) << printed.err;
    for (const auto* const line :
         {"namespace hr {", "namespace emp_v1 {", "struct hire {", "std::string who{};",
          R"(POSTHORN_SIGNAL(hire, "Hire", (who, "who")))",
          R"(using service = posthorn::service<"emp", 1, hire>;)"})
        EXPECT_THAT(printed.out, HasSubstr(line));
}

TEST_F(contracts, are_kept_for_when_nobody_answers_and_that_is_said) {
    const auto source = write("hr.json", metadata());
    const auto cache = folder_.file("kept/hr.json");
    const auto header = folder_.file("made/hr.hpp");
    const std::vector<std::string> import{"contracts", "import",  source, "--out",
                                          header,      "--cache", cache};
    EXPECT_EQ(run(import).code, exit_code::ok);
    const auto made = read(header);
    EXPECT_THAT(made, HasSubstr("struct hire"));
    std::filesystem::remove(source);
    std::filesystem::remove(header);
    const auto again = run(import);
    EXPECT_EQ(again.code, exit_code::ok);
    EXPECT_THAT(again.err, HasSubstr("which may be stale"));
    EXPECT_EQ(read(header), made);
    std::filesystem::remove(cache);
    const auto lost = run(import);
    EXPECT_EQ(lost.code, exit_code::failed);
    EXPECT_THAT(lost.err, HasSubstr("no copy of it is kept"));
}

TEST_F(contracts, warn_of_an_old_copy_and_of_a_change_that_breaks) {
    const auto source = write("hr.json", metadata());
    const auto cache = folder_.file("hr.kept.json");
    std::vector<std::string> import{"contracts", "import", source, "--cache", cache};
    EXPECT_EQ(run(import).err, "");
    import.emplace_back("--offline");
    EXPECT_EQ(run(import).err, "") << "it is of now";
    std::filesystem::last_write_time(
        cache, std::filesystem::last_write_time(cache) - std::chrono::days{8});
    EXPECT_THAT(run(import).err, HasSubstr("is of 8d ago and may be stale"));
    import.pop_back();
    write("hr.json", metadata(R"({"type":"object","properties":{"who":{"type":"string"},)"
                              R"("age":{"type":"number"}},"required":["who","age"]})"));
    EXPECT_THAT(run(import).err, HasSubstr("emp/v1/Hire request.age may be missing"));
    EXPECT_EQ(run(import).err, "") << "it is kept now";
}

TEST_F(contracts, that_differ_end_the_program_by_whether_that_breaks) {
    const auto before = write("a.json", metadata());
    const auto wider =
        write("b.json", metadata(R"({"type":"object","properties":{},"required":[]})"));
    EXPECT_EQ(run({"contracts", "diff", before, before}).out, "nothing has changed\n");
    const auto compatible = run({"contracts", "diff", before, wider});
    EXPECT_EQ(compatible.code, exit_code::ok);
    EXPECT_THAT(compatible.out, HasSubstr("compatible"));
    const auto breaking = run({"contracts", "diff", wider, before, "--json"});
    EXPECT_EQ(breaking.code, exit_code::failed);
    EXPECT_THAT(breaking.out, HasSubstr(R"({"breaking":1,"changes":[{"breaking":true)"));
}

TEST_F(contracts, of_a_stranger_write_no_code) {
    for (const auto* const name :
         {R"(x\")\nint evil;(\")", R"(a\\\\b)", R"(\u0007)", "", R"(\") int evil; (\")"}) {
        const auto printed = run({"contracts", "import", write("hr.json", metadata(schema, name))});
        EXPECT_EQ(printed.code, exit_code::failed) << name;
        EXPECT_THAT(printed.out, Not(HasSubstr("evil")));
    }
    const auto field = R"({"type":"object","properties":{"a; int evil":{"type":"string"}}})";
    EXPECT_THAT(run({"contracts", "import", write("hr.json", metadata(field))}).out,
                HasSubstr(R"((a_int_evil, "a; int evil"))"));
}

TEST_F(contracts, of_a_stranger_take_neither_long_nor_much) {
    // Names of which the same identifier is made, for types and for fields.
    std::string many;
    for (unsigned i = 0; i < 12'000; ++i) {
        std::string marks;
        for (unsigned bit = 0; bit < 14; ++bit) marks += (i >> bit & 1U) != 0 ? '-' : '.';
        many += fmt::format(R"({}"a{}":{{"type":"object","properties":{{}}}})", i == 0 ? "" : ",",
                            marks);
    }
    const auto types =
        write("hr.json", metadata(fmt::format(R"({{"type":"object","properties":{{{}}}}})", many)));
    const auto printed = run({"contracts", "import", types});
    EXPECT_EQ(printed.code, exit_code::failed);
    EXPECT_THAT(printed.err, HasSubstr("too many types"));

    std::string words;
    for (int i = 0; i < 40'000; ++i) words += fmt::format(R"({}"w{}")", i == 0 ? "" : ",", i);
    const auto needed = [&](std::string_view more) {
        return metadata(fmt::format(
            R"({{"type":"object","properties":{{"a":{{"enum":[{0}{1}]}}}},"required":[{0}{1}]}})",
            words, more));
    };
    const auto cache = write("kept.json", needed(""));
    const auto after = write("new.json", needed(R"(,"x",7,"y")"));
    EXPECT_EQ(run({"contracts", "diff", cache, after}).code, exit_code::failed);
    const auto imported =
        run({"contracts", "import", after, "--cache", cache, "--out", folder_.file("hr.hpp")});
    EXPECT_EQ(imported.code, exit_code::failed) << "an enumeration holds a number";
}

TEST_F(contracts, that_are_no_schemas_are_no_end_of_the_program) {
    const auto before = write("a.json", metadata(R"("x")"));
    const auto after = write("b.json", metadata("7"));
    const auto printed = run({"contracts", "diff", before, after});
    EXPECT_EQ(printed.code, exit_code::failed);
    EXPECT_THAT(printed.out, HasSubstr("is not a schema"));
    EXPECT_EQ(run({"contracts", "diff", before, before}).code, exit_code::ok);
}

TEST(contract_header, gives_no_member_the_name_of_a_type_that_its_struct_uses) {
    const auto read = boost::json::parse(metadata(
        R"({"type":"object","properties":{"who":{"type":"object","properties":{}},)"
        R"("hireWho":{"type":"string"},"hire":{"type":"string"},"hireAt":{"type":"string"}}})"));
    const auto text = write_contract_header(read.as_object(), {.name = "hr", .from = "x"}).value();
    EXPECT_THAT(text, HasSubstr("hire_who who{};"));
    EXPECT_THAT(text, HasSubstr(R"((hire_who_field, "hireWho"))"));
    EXPECT_THAT(text, HasSubstr(R"((hire_field, "hire"))"));
    EXPECT_THAT(text, HasSubstr(R"((hire_at, "hireAt"))"));
}

TEST(contract_header, keeps_out_of_the_way_of_c) {
    EXPECT_EQ(to_namespace("time"), "time_service");
    EXPECT_EQ(to_namespace("Signal"), "signal_service");
    EXPECT_EQ(to_namespace("hr"), "hr");
}

TEST(contract_header, makes_identifiers_of_all_names) {
    EXPECT_EQ(to_identifier("OrderApproved"), "order_approved");
    EXPECT_EQ(to_identifier("orderId"), "order_id");
    EXPECT_EQ(to_identifier("HTTPStatus"), "httpstatus");
    EXPECT_EQ(to_identifier("a-b.c"), "a_b_c");
    EXPECT_EQ(to_identifier("class"), "class_");
    EXPECT_EQ(to_identifier("service"), "service_");
    EXPECT_EQ(to_identifier("7up"), "n_7up");
    EXPECT_EQ(to_identifier("_x_"), "x");
    EXPECT_EQ(to_identifier("öü"), "n_");
}

}  // namespace
}  // namespace posthorn::cli
