#include "app/features.hpp"

#include <array>

#include "audit/audit_feature.hpp"
#include "notes/notes_feature.hpp"
#include "queue/queue_feature.hpp"

// src/app/features.cpp with one line more.

namespace posthorn {

feature_list all_features() noexcept {
    static const std::array all{
        &queue_feature(),
        &audit_feature(),
        &notes_feature(),
    };
    return all;
}

std::vector<table_set> tables_of_features() {
    std::vector<table_set> all;
    for (const auto* const each : all_features()) all.push_back(each->tables());
    return all;
}

}  // namespace posthorn
