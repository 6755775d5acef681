#pragma once

#include <string>

#include <boost/json/object.hpp>

#include <posthorn/detail/time.hpp>

namespace posthorn::cli {

/// The objects of the admin endpoints as people read them. Pure. Fields that are missing show as
/// nothing, so that an older or a newer node can be asked too.

[[nodiscard]] std::string outbox_table_text(const boost::json::object& page, wall_time now);
[[nodiscard]] std::string dead_table_text(const boost::json::object& page, wall_time now);
[[nodiscard]] std::string dead_groups_text(const boost::json::object& page, wall_time now);
[[nodiscard]] std::string inbox_table_text(const boost::json::object& page, wall_time now);
[[nodiscard]] std::string failed_table_text(const boost::json::object& page, wall_time now);
[[nodiscard]] std::string refused_table_text(const boost::json::object& page, wall_time now);
[[nodiscard]] std::string inbox_message_text(const boost::json::object& answer, wall_time now);
[[nodiscard]] std::string message_text(const boost::json::object& message, wall_time now);
[[nodiscard]] std::string outbox_stats_text(const boost::json::object& stats, wall_time now);
[[nodiscard]] std::string inbox_stats_text(const boost::json::object& stats);
[[nodiscard]] std::string lanes_text(const boost::json::object& lanes, wall_time now);
[[nodiscard]] std::string health_text(const boost::json::object& report);

}  // namespace posthorn::cli
