#pragma once

/// All of the blocking API: nodes, transactions, messages, services. What is written with
/// coroutines has a header of its own, <posthorn/async.hpp>.
#include <posthorn/contract.hpp>
#include <posthorn/error.hpp>
#include <posthorn/forward.hpp>
#include <posthorn/message.hpp>
#include <posthorn/node.hpp>
#include <posthorn/node_options.hpp>
#include <posthorn/proxy.hpp>
#include <posthorn/reply.hpp>
#include <posthorn/service.hpp>
#include <posthorn/transaction.hpp>
#include <posthorn/transport.hpp>
#include <posthorn/uuid.hpp>
#include <posthorn/version.hpp>
#include <posthorn/webhooks.hpp>
