#include "app/features.hpp"

#include <array>

#include "audit/audit_feature.hpp"
#include "centre/centre_feature.hpp"
#include "consume/consume_feature.hpp"
#include "engine/engine_feature.hpp"
#include "forward/forward_feature.hpp"
#include "history/history_feature.hpp"
#include "nodes/nodes_feature.hpp"
#include "otlp/otlp_feature.hpp"
#include "queue/queue_feature.hpp"
#include "standby/standby_feature.hpp"
#include "url/url_feature.hpp"
#include "webhook/webhook_feature.hpp"

namespace posthorn {

feature_list all_features() noexcept {
    static const std::array all{
        &queue_feature(),   &audit_feature(),  &history_feature(), &nodes_feature(),
        &webhook_feature(), &engine_feature(), &centre_feature(),  &forward_feature(),
        &standby_feature(), &url_feature(),    &otlp_feature(),    &consume_feature(),
    };
    return all;
}

std::vector<table_set> tables_of_features() {
    std::vector<table_set> all;
    for (const auto* const each : all_features())
        if (const auto own = each->tables(); !own.sqlite.steps.empty()) all.push_back(own);
    return all;
}

}  // namespace posthorn
