// What the suite runs on. Another transport is another line here.
#include "conformance/transport/suite.hpp"

namespace posthorn::conformance {
namespace {

const road_factory inprocess{"inprocess", inprocess_road};
const road_factory over_unix{"over_unix", unix_road};
const road_factory over_pipe{"over_pipe", pipe_road};
const road_factory over_http{"over_http", http_road};
const road_factory over_https{"over_https", https_road};

std::string name_of(const ::testing::TestParamInfo<road_factory>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(all, transport_suite,
                         ::testing::Values(inprocess, over_unix, over_pipe, over_http, over_https),
                         name_of);

}  // namespace
}  // namespace posthorn::conformance
