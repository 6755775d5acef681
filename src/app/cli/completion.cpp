#include "app/cli/completion.hpp"

#include <fmt/ranges.h>

namespace posthorn::cli {
namespace {

std::string path_of(const command_form& command) {
    return fmt::format("{}", fmt::join(command.path, " "));
}

// All that may come next: the commands inside, the options, and what a place takes.
std::vector<std::string> words_of(const command_form& command) {
    std::vector<std::string> words = command.members;
    for (const auto& option : command.options) {
        const auto& offered = option.names.empty() ? option.choices : option.names;
        words.insert(words.end(), offered.begin(), offered.end());
    }
    return words;
}

bool takes_files(const command_form& command) {
    for (const auto& option : command.options)
        if (option.names.empty() && option.is_file) return true;
    return false;
}

std::string shell_quoted(std::string_view text) {
    std::string safe;
    for (const char c : text) safe += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return "'" + safe + "'";
}

// The patterns of a shell's `case` for an option behind its command.
std::string option_patterns(const command_form& command, const option_form& option) {
    std::vector<std::string> patterns;
    for (const auto& name : option.names)
        patterns.push_back(shell_quoted(path_of(command) + " " + name));
    return fmt::format("{}", fmt::join(patterns, "|"));
}

// What bash and zsh share: which commands there are, what each takes, what follows an option.
struct case_arms {
    std::string paths;    // 'keys'|'keys new'|…
    std::string words;    // 'keys') words='new rotate'; files=0 ;;
    std::string options;  // 'keys new --out') files=1; words='' ;;
};

case_arms arms_of(const std::vector<command_form>& commands) {
    case_arms arms;
    std::vector<std::string> paths;
    for (const auto& command : commands) {
        if (!command.path.empty()) paths.push_back(shell_quoted(path_of(command)));
        arms.words +=
            fmt::format("        {}) words='{}'; files={} ;;\n", shell_quoted(path_of(command)),
                        fmt::join(words_of(command), " "), takes_files(command) ? 1 : 0);
        for (const auto& option : command.options)
            if (option.takes_value && !option.names.empty())
                arms.options += fmt::format("        {}) words='{}'; files={} ;;\n",
                                            option_patterns(command, option),
                                            fmt::join(option.choices, " "), option.is_file ? 1 : 0);
    }
    arms.paths = fmt::format("{}", fmt::join(paths, "|"));
    return arms;
}

}  // namespace

std::string bash_completion(const std::vector<command_form>& commands) {
    const auto arms = arms_of(commands);
    return fmt::format(R"(# bash completion for posthorn; made by 'posthorn completion bash'.
_posthorn() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
    local path='' next words='' files=0 i
    for ((i = 1; i < COMP_CWORD; ++i)); do
        next="${{path:+$path }}${{COMP_WORDS[i]}}"
        case "$next" in
        {}) path="$next" ;;
        esac
    done
    case "$path" in
{}    esac
    case "$path $before" in
{}    esac
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    if [ "$files" = 1 ] && [ "${{current#-}}" = "$current" ]; then
        compopt -o filenames 2>/dev/null
        mapfile -t -O "${{#COMPREPLY[@]}}" COMPREPLY < <(compgen -f -- "$current")
    fi
}}
complete -F _posthorn posthorn
)",
                       arms.paths, arms.words, arms.options);
}

std::string zsh_completion(const std::vector<command_form>& commands) {
    const auto arms = arms_of(commands);
    return fmt::format(R"(#compdef posthorn
# zsh completion for posthorn; made by 'posthorn completion zsh'.
_posthorn() {{
    local before="${{words[CURRENT-1]}}" typed="${{words[CURRENT]}}" path_of_command='' next i
    local -a all=("${{(@)words}}")
    local words='' files=0
    for ((i = 2; i < CURRENT; ++i)); do
        next="${{path_of_command:+$path_of_command }}${{all[i]}}"
        case "$next" in
        {}) path_of_command="$next" ;;
        esac
    done
    case "$path_of_command" in
{}    esac
    case "$path_of_command $before" in
{}    esac
    [[ -n "$words" ]] && compadd -- ${{=words}}
    [[ $files = 1 && "$typed" != -* ]] && _files
    return 0
}}
if [ "$funcstack[1]" = _posthorn ]; then _posthorn "$@"; else compdef _posthorn posthorn; fi
)",
                       arms.paths, arms.words, arms.options);
}

std::string fish_completion(const std::vector<command_form>& commands) {
    std::vector<std::string> paths;
    for (const auto& command : commands)
        if (!command.path.empty()) paths.push_back(shell_quoted(path_of(command)));
    std::string text = fmt::format(
        R"(# fish completion for posthorn; made by 'posthorn completion fish'.
function __posthorn_at
    set -l path ''
    for word in (commandline -opc)[2..-1]
        set -l next (string trim -- "$path $word")
        contains -- $next {} && set path $next
    end
    test "$path" = "$argv[1]"
end
complete -c posthorn -f
)",
        fmt::join(paths, " "));
    for (const auto& command : commands) {
        const auto here = fmt::format("complete -c posthorn -n \"__posthorn_at {}\"",
                                      shell_quoted(path_of(command)));
        for (const auto& member : command.members) text += fmt::format("{} -a {}\n", here, member);
        for (const auto& option : command.options) {
            std::string line = here;
            for (const auto& name : option.names)
                line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
            if (option.takes_value && !option.names.empty()) line += " -r";
            if (option.is_file) line += " -F";
            if (!option.choices.empty())
                line += fmt::format(" -a '{}'", fmt::join(option.choices, " "));
            text += line + " -d " + shell_quoted(option.summary) + '\n';
        }
    }
    return text;
}

}  // namespace posthorn::cli
