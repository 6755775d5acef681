#pragma once

#include "engine/routes/workflow_desk.hpp"

/// What people change of one workflow, as routes of the admin API.
namespace posthorn {

task<http_response> signal_workflow(const workflow_desk& with, http_request request,
                                    admin_caller who);
task<http_response> cancel_instance(const workflow_desk& with, http_request request,
                                    admin_caller who);
task<http_response> terminate_instance(const workflow_desk& with, http_request request,
                                       admin_caller who);
task<http_response> pause_workflow(const workflow_desk& with, http_request request,
                                   admin_caller who);
task<http_response> resume_workflow(const workflow_desk& with, http_request request,
                                    admin_caller who);

}  // namespace posthorn
