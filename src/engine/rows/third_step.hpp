#pragma once

#include <string_view>

/// The third step of the tables of workflows: the traces that workflows are part of.
namespace posthorn {

// Of the message that told the signal, and of the signal or the step that started the workflow.
inline constexpr std::string_view workflow_step_3_in_file = R"sql(
ALTER TABLE workflow_instances ADD COLUMN trace TEXT;
ALTER TABLE workflow_signals ADD COLUMN trace TEXT;
)sql";

inline constexpr std::string_view workflow_step_3_on_server = R"sql(
ALTER TABLE {s}.workflow_instances ADD COLUMN trace text;
ALTER TABLE {s}.workflow_signals ADD COLUMN trace text;
)sql";

}  // namespace posthorn
