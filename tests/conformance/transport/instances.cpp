// What the suite runs on. Another transport is another line here.
#include "conformance/transport/suite.hpp"
#include "transport/grpc/grpc_server.hpp"

namespace posthorn::conformance {
namespace {

const road_factory inprocess{"inprocess", inprocess_road};
const road_factory over_unix{"over_unix", unix_road};
const road_factory over_pipe{"over_pipe", pipe_road};
const road_factory over_grpc{"over_grpc", grpc_road};
const road_factory over_http{"over_http", http_road};
const road_factory over_https{"over_https", https_road};

std::string name_of(const ::testing::TestParamInfo<road_factory>& info) { return info.param.name; }

std::vector<road_factory> all_roads() {
    std::vector<road_factory> roads{inprocess, over_unix, over_pipe, over_http, over_https};
    if (has_grpc()) roads.push_back(over_grpc);
    return roads;
}

INSTANTIATE_TEST_SUITE_P(all, transport_suite, ::testing::ValuesIn(all_roads()), name_of);

}  // namespace
}  // namespace posthorn::conformance
