#include "workflow/binary/inspection.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/base64.hpp"
#include "unit/workflow/binary/elf_builder.hpp"
#include "workflow/binary/imports.hpp"

namespace posthorn {
namespace {

using test::binary_of_workflows;
using test::bytes_of;
using test::elf_builder;
using testing::HasSubstr;

ed25519_pair pair_of(char seed) {
    return *ed25519_pair::parse("k_" + encode_base64(std::string(32, seed)), "k_");
}
const ed25519_pair& ann() {
    static const auto pair = pair_of('a');
    return pair;
}
std::vector<publisher> only_ann() { return {{"ann", ann().public_key()}}; }

std::string inspect(std::span<const std::byte> file, machine_kind here = machine_kind::x86_64) {
    const auto known = only_ann();
    const auto seen = inspect_binary(file, known, here);
    return seen ? "accepted" : std::string(to_string(seen.error().flaw));
}
std::string inspect(elf_builder made) {
    const auto built = made.build();
    return inspect(sign_binary(bytes_of(built), ann()));
}
std::string why(elf_builder made) {
    const auto built = made.build();
    const auto seen = inspect_elf(bytes_of(built), machine_kind::x86_64);
    return seen ? "" : seen.error().why;
}

TEST(inspection, takes_what_a_publisher_signed) {
    auto made = binary_of_workflows();
    const auto built = made.build();
    const auto file = sign_binary(bytes_of(built), ann());
    const auto known = only_ann();
    const auto seen = inspect_binary(file, known, machine_kind::x86_64);
    ASSERT_TRUE(seen) << seen.error().why;
    EXPECT_EQ(seen->by.name, "ann");
    EXPECT_EQ(seen->elf.size(), built.size());
    EXPECT_EQ(seen->manifest.head, (manifest_head{"orders", "1.0", 1}));
    ASSERT_NE(seen->manifest.find_workflow("ApproveOrder", 1), nullptr);
    EXPECT_EQ(seen->manifest.find_workflow("ApproveOrder", 2), nullptr);
    ASSERT_NE(seen->manifest.find_call("billing/v1/Charge"), nullptr);
    EXPECT_EQ(seen->manifest.find_call("billing/v2/Charge"), nullptr);
    ASSERT_EQ(seen->manifest.waits.size(), 1U);
    EXPECT_TRUE(seen->manifest.receives.empty());
}

TEST(inspection, refuses_every_changed_byte) {
    const auto built = binary_of_workflows().build();
    const auto good = sign_binary(bytes_of(built), ann());
    for (std::size_t at = 0; at < good.size(); at += at < built.size() ? 37 : 1) {
        auto file = good;
        file[at] ^= std::byte{1};
        EXPECT_NE(inspect(file), "accepted") << at;
    }
    for (const auto size : {built.size(), good.size() - 1, good.size() - 64, std::size_t{0}})
        EXPECT_EQ(inspect(std::span(good).first(size)), "unsigned") << size;
    auto longer = good;
    longer.push_back(std::byte{0});
    EXPECT_EQ(inspect(longer), "unsigned");
}

TEST(inspection, refuses_strangers_and_joined_signatures) {
    const auto built = binary_of_workflows().build();
    EXPECT_EQ(inspect(sign_binary(bytes_of(built), pair_of('b'))), "unknown_publisher");
    const auto other = "other" + built;
    auto joined = sign_binary(bytes_of(other), ann());
    const auto good = sign_binary(bytes_of(built), ann());
    std::copy(good.end() - 64, good.end(), joined.end() - 64);
    EXPECT_EQ(inspect(joined), "bad_signature");
    // Another's key in the trailer, with a signature of their own.
    auto claimed = sign_binary(bytes_of(built), pair_of('b'));
    std::ranges::copy(ann().public_key(), claimed.end() - 96);
    EXPECT_EQ(inspect(claimed), "bad_signature");
}

TEST(inspection, signs_a_signed_file_anew) {
    const auto built = binary_of_workflows().build();
    const auto by_another = sign_binary(bytes_of(built), pair_of('b'));
    EXPECT_EQ(sign_binary(by_another, ann()), sign_binary(bytes_of(built), ann()));
}

TEST(inspection, asks_the_signature_before_anything_else) {
    EXPECT_EQ(inspect(sign_binary(bytes_of("no ELF at all"), pair_of('b'))), "unknown_publisher");
    EXPECT_EQ(inspect(sign_binary(bytes_of("no ELF at all"), ann())), "not_elf");
}

TEST(inspection, refuses_other_machines_and_missing_parts) {
    auto made = binary_of_workflows();
    made.machine = elf::machine_aarch64;
    EXPECT_EQ(inspect(made), "foreign");
    made = binary_of_workflows();
    made.exports = {"main"};
    EXPECT_EQ(inspect(made), "no_entry");
    made = binary_of_workflows();
    made.needed.push_back("libssl.so.3");
    EXPECT_EQ(inspect(made), "needs_library");
    made.needed.back() = "/tmp/evil.so";
    EXPECT_EQ(inspect(made), "needs_library");
    made = binary_of_workflows();
    made.imports.push_back("fork");
    EXPECT_EQ(inspect(made), "forbidden_import");
    EXPECT_THAT(why(made), HasSubstr("fork"));
}

TEST(imports, are_judged_by_what_they_are_for) {
    struct row {
        std::string_view symbol;
        import_kind kind;
    };
    const std::vector<row> rows{
        {"malloc", import_kind::allowed},
        {"sqrtf", import_kind::allowed},
        {"_Znwm", import_kind::allowed},
        {"__cxa_throw", import_kind::allowed},
        {"_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4findEPKcmm", import_kind::allowed},
        {"_ZTVN10__cxxabiv120__si_class_type_infoE", import_kind::allowed},
        {"_ZTIPKc", import_kind::allowed},
        {"_ZSt17__throw_bad_allocv", import_kind::allowed},
        {"_ZN3fmt2v97vformatENS0_17basic_string_viewIcEE", import_kind::allowed},
        {"_ZN8simdjson25get_active_implementationEv", import_kind::allowed},
        {"clock_gettime", import_kind::clock},
        {"time", import_kind::clock},
        {"_ZNSt6chrono3_V212system_clock3nowEv", import_kind::clock},
        {"_ZNSt6chrono3_V212steady_clock3nowEv", import_kind::clock},
        {"rand", import_kind::chance},
        {"getrandom", import_kind::chance},
        {"_ZNSt13random_device7_M_initERKNSt7__cxx1112basic_stringIcEE", import_kind::chance},
        {"pthread_create", import_kind::thread},
        {"pthread_mutex_lock", import_kind::thread},
        {"__tls_get_addr", import_kind::allowed},
        {"_ZN5boost4json6detail5stackD1Ev", import_kind::allowed},
        {"_ZN5boost4asio10io_context3runEv", import_kind::unknown},
        {"_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateEE", import_kind::thread},
        {"_ZNSt18condition_variable10notify_oneEv", import_kind::thread},
        {"open", import_kind::outside},
        {"open64", import_kind::outside},
        {"socket", import_kind::outside},
        {"execve", import_kind::outside},
        {"syscall", import_kind::outside},
        {"dlopen", import_kind::outside},
        {"getenv", import_kind::outside},
        {"_ZSt4cout", import_kind::outside},
        {"_ZNSt13basic_filebufIcSt11char_traitsIcEE4openEPKcSt13_Ios_Openmode",
         import_kind::outside},
        {"_ZNSt10filesystem6removeERKNS_7__cxx114pathE", import_kind::outside},
        {"_ZN3fmt2v96vprintENS0_17basic_string_viewIcEE", import_kind::outside},
        {"sqlite3_open", import_kind::unknown},
        {"_ZN5other3runEv", import_kind::unknown},
        {"", import_kind::unknown},
        {"_Z", import_kind::unknown},
    };
    for (const auto& each : rows) EXPECT_EQ(judge_import(each.symbol), each.kind) << each.symbol;
}

TEST(manifest, is_refused_by_name_when_it_does_not_fit) {
    const auto with = [](std::uint32_t kind, std::string text) {
        auto made = binary_of_workflows();
        made.notes.push_back({"Posthorn", kind, std::move(text)});
        return inspect(made);
    };
    EXPECT_EQ(with(2, "{"), "manifest_unreadable");
    EXPECT_EQ(with(2, R"({"name":"","version":1,"state":{},"arguments":[],"result":null})"),
              "manifest_unreadable");
    EXPECT_EQ(with(2, R"({"name":"x","version":0,"state":{},"arguments":[],"result":null})"),
              "manifest_unreadable");
    EXPECT_EQ(with(2, R"({"name":"ApproveOrder","version":1,"state":{},"arguments":[],)"
                      R"("result":null})"),
              "manifest_unreadable");  // Twice, and not the same.
    EXPECT_EQ(with(2, R"({"name":"ApproveOrder","version":1,"state":{},"arguments":[{}],)"
                      R"("result":null})"),
              "accepted");  // Twice, and the same.
    EXPECT_EQ(with(2, R"({"name":"ApproveOrder","version":2,"state":{},"arguments":[{}],)"
                      R"("result":null})"),
              "accepted");
    EXPECT_EQ(with(1, R"({"name":"other","version":"1","abi":1})"), "manifest_unreadable");
    EXPECT_EQ(with(3, R"({"name":"b","version":1,"interface":"b/v1","messages":[{"name":"C",)"
                      R"("endpoint":"a/v1/C","type":"Command","request":{},"response":null}]})"),
              "manifest_unreadable");
    EXPECT_EQ(with(6, R"({"uses":"transact"})"), "linked_only");
    EXPECT_EQ(with(99, "what comes later"), "accepted");
    EXPECT_EQ(with(2, std::string(200'000, '[')), "manifest_unreadable");
}

TEST(manifest, is_of_this_protocol_and_complete) {
    auto made = binary_of_workflows();
    made.notes[0].text = R"({"name":"orders","version":"1.0","abi":2})";
    EXPECT_EQ(inspect(made), "other_abi");
    made.notes.erase(made.notes.begin());
    EXPECT_EQ(inspect(made), "no_manifest");
    made = binary_of_workflows();
    made.notes.erase(made.notes.begin() + 1);
    EXPECT_EQ(inspect(made), "no_manifest");
    made.notes.clear();
    EXPECT_EQ(inspect(made), "no_manifest");
}

TEST(manifest, keeps_its_limits) {
    auto made = binary_of_workflows();
    const auto file = made.build();
    const auto image = read_elf(bytes_of(file));
    ASSERT_TRUE(image);
    EXPECT_EQ(read_manifest(*image, {.bytes_max = 100}).error().flaw, binary_flaw::too_large);
    EXPECT_EQ(read_manifest(*image, {.name_bytes_max = 5}).error().flaw,
              binary_flaw::manifest_unreadable);
    EXPECT_EQ(read_manifest(*image, {.workflows_max = 0}).error().flaw, binary_flaw::too_large);
    EXPECT_TRUE(read_manifest(*image));
}

}  // namespace
}  // namespace posthorn
