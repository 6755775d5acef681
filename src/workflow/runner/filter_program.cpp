#include "workflow/runner/filter_program.hpp"

#include "base/assert.hpp"

namespace posthorn {
namespace {

namespace code = filter_code;
using program = std::vector<filter_instruction>;

std::uint8_t distance(std::size_t instructions) {
    POSTHORN_ASSERT(instructions <= 0xff);
    return static_cast<std::uint8_t>(instructions);
}

/// Falls out at its end unless all rules of the way hold.
program written(const call_way& way) {
    program made;
    const auto length = way.size() * 2 + 1;
    for (const auto& rule : way) {
        made.push_back({code::load, 0, 0, code::arguments_at + rule.argument * 8});
        const auto to_end = distance(length - made.size() - 1);
        if (rule.what == argument_rule::kind::equals)
            made.push_back({code::jump_if_equal, 0, to_end, rule.bits});
        else
            made.push_back({code::jump_if_any_bit, to_end, 0, rule.bits});
    }
    made.push_back({code::give, 0, 0, code::allow});
    return made;
}

void append(program& to, const allowed_call& call) {
    program ways;
    for (const auto& way : call.ways) {
        const auto one = written(way);
        ways.insert(ways.end(), one.begin(), one.end());
    }
    // The number is not there any more once an argument was looked at.
    const bool looks_at_arguments = call.ways.size() != 1 || !call.ways.front().empty();
    if (looks_at_arguments) ways.push_back({code::give, 0, 0, code::deny});
    to.push_back({code::jump_if_equal, 0, distance(ways.size()), call.number});
    to.insert(to.end(), ways.begin(), ways.end());
}

}  // namespace

std::vector<filter_instruction> filter_for(sandbox_stage stage, machine_kind machine) {
    const bool is_x86 = machine == machine_kind::x86_64;
    program made{{code::load, 0, 0, code::machine_at},
                 {code::jump_if_equal, 1, 0, is_x86 ? code::machine_x86_64 : code::machine_aarch64},
                 {code::give, 0, 0, code::kill_process},
                 {code::load, 0, 0, code::number_at}};
    if (is_x86) {
        made.push_back({code::jump_if_at_least, 0, 1, code::first_x32_number});
        made.push_back({code::give, 0, 0, code::kill_process});
    }
    for (const auto& call : calls_in(stage, machine)) append(made, call);
    made.push_back({code::give, 0, 0, code::deny});
    return made;
}

}  // namespace posthorn
