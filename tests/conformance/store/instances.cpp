// What the suite runs on. Another database is another line here.
#include "conformance/store/centre/centre_store.hpp"
#include "conformance/store/consume/put_aside_store.hpp"
#include "conformance/store/dead_letters.hpp"
#include "conformance/store/forward/forward_store.hpp"
#include "conformance/store/inspection.hpp"
#include "conformance/store/kept_store.hpp"
#include "conformance/store/lane_store.hpp"
#include "conformance/store/ordered_store.hpp"
#include "conformance/store/storage/postgres_storage.hpp"
#include "conformance/store/storage/sqlite_storage.hpp"
#include "conformance/store/suite.hpp"
#include "conformance/store/workflow/workflow_family_store.hpp"

namespace posthorn::conformance {
namespace {

const store_factory on_files{"on_files", [](std::uint64_t) { return sqlite_on_files(); }};
const store_factory in_memory{"in_memory", [](std::uint64_t) { return sqlite_in_memory(); }};
const store_factory on_fault_disk{"on_fault_disk", sqlite_on_fault_disk};

std::string name_of(const ::testing::TestParamInfo<store_factory>& info) { return info.param.name; }

#define POSTHORN_ON_SQLITE(suite)                                                                  \
    INSTANTIATE_TEST_SUITE_P(sqlite, suite, ::testing::Values(on_files, in_memory, on_fault_disk), \
                             name_of)

POSTHORN_ON_SQLITE(store);
POSTHORN_ON_SQLITE(watched_store);
POSTHORN_ON_SQLITE(ordered_store);
POSTHORN_ON_SQLITE(lane_store);
POSTHORN_ON_SQLITE(kept_store);
POSTHORN_ON_SQLITE(paged_store);
POSTHORN_ON_SQLITE(inspected_store);
POSTHORN_ON_SQLITE(inspected_order);
POSTHORN_ON_SQLITE(store_of_dead_letters);
POSTHORN_ON_SQLITE(workflow_store);
POSTHORN_ON_SQLITE(workflow_family_store);
POSTHORN_ON_SQLITE(forward_store);
POSTHORN_ON_SQLITE(centre_store);
POSTHORN_ON_SQLITE(put_aside_store);
INSTANTIATE_TEST_SUITE_P(sqlite, store_on_a_failing_disk, ::testing::Values(on_fault_disk),
                         name_of);

#ifdef POSTHORN_WITH_POSTGRES
const store_factory on_a_server{"on_a_server",
                                [](std::uint64_t) { return postgres_on_a_server(); }};
#define POSTHORN_ON_POSTGRES(suite) \
    INSTANTIATE_TEST_SUITE_P(postgres, suite, ::testing::Values(on_a_server), name_of)

POSTHORN_ON_POSTGRES(store);
POSTHORN_ON_POSTGRES(ordered_store);
POSTHORN_ON_POSTGRES(lane_store);
POSTHORN_ON_POSTGRES(kept_store);
POSTHORN_ON_POSTGRES(inspected_store);
POSTHORN_ON_POSTGRES(inspected_order);
POSTHORN_ON_POSTGRES(store_of_dead_letters);
POSTHORN_ON_POSTGRES(workflow_store);
POSTHORN_ON_POSTGRES(workflow_family_store);
POSTHORN_ON_POSTGRES(forward_store);
POSTHORN_ON_POSTGRES(centre_store);
POSTHORN_ON_POSTGRES(put_aside_store);
#endif

}  // namespace
}  // namespace posthorn::conformance
