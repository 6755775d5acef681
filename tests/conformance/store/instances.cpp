// What the suite runs on. Another database is another line here.
#include "conformance/store/dead_letters.hpp"
#include "conformance/store/inspection.hpp"
#include "conformance/store/kept_store.hpp"
#include "conformance/store/lane_store.hpp"
#include "conformance/store/ordered_store.hpp"
#include "conformance/store/sqlite_storage.hpp"
#include "conformance/store/suite.hpp"

namespace posthorn::conformance {
namespace {

const store_factory on_files{"on_files", [](std::uint64_t) { return sqlite_on_files(); }};
const store_factory in_memory{"in_memory", [](std::uint64_t) { return sqlite_in_memory(); }};
const store_factory on_fault_disk{"on_fault_disk", sqlite_on_fault_disk};

std::string name_of(const ::testing::TestParamInfo<store_factory>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(sqlite, store, ::testing::Values(on_files, in_memory, on_fault_disk),
                         name_of);
INSTANTIATE_TEST_SUITE_P(sqlite, ordered_store,
                         ::testing::Values(on_files, in_memory, on_fault_disk), name_of);
INSTANTIATE_TEST_SUITE_P(sqlite, lane_store, ::testing::Values(on_files, in_memory, on_fault_disk),
                         name_of);
INSTANTIATE_TEST_SUITE_P(sqlite, kept_store, ::testing::Values(on_files, in_memory, on_fault_disk),
                         name_of);
INSTANTIATE_TEST_SUITE_P(sqlite, inspected_store,
                         ::testing::Values(on_files, in_memory, on_fault_disk), name_of);
INSTANTIATE_TEST_SUITE_P(sqlite, store_of_dead_letters,
                         ::testing::Values(on_files, in_memory, on_fault_disk), name_of);
INSTANTIATE_TEST_SUITE_P(sqlite, store_on_a_failing_disk, ::testing::Values(on_fault_disk),
                         name_of);

}  // namespace
}  // namespace posthorn::conformance
