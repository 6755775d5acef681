#include "workflow/binary/imports.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace posthorn {
namespace {

using namespace std::string_view_literals;

// Those that posthorn-runner is linked with, so that none is looked for in the sandbox.
constexpr std::array libraries{
    "ld-linux-aarch64.so.1"sv,
    "ld-linux-x86-64.so.2"sv,
    "libboost_container.so.1.81.0"sv,
    "libboost_json.so.1.81.0"sv,
    "libc.so.6"sv,
    "libfmt.so.9"sv,
    "libgcc_s.so.1"sv,
    "libm.so.6"sv,
    "libsimdjson.so.14"sv,
    "libstdc++.so.6"sv,
};
static_assert(std::ranges::is_sorted(libraries));

// Of the C library: memory, text, numbers. Each list is sorted, since it is searched by halves.
constexpr std::array plain{
    "_ITM_deregisterTMCloneTable"sv,
    "_ITM_registerTMCloneTable"sv,
    "__assert_fail"sv,
    "__ctype_b_loc"sv,
    "__ctype_tolower_loc"sv,
    "__ctype_toupper_loc"sv,
    "__errno_location"sv,
    "__fdelt_chk"sv,
    "__gmon_start__"sv,
    "__gxx_personality_v0"sv,
    "__isoc23_strtol"sv,
    "__isoc23_strtoll"sv,
    "__isoc23_strtoul"sv,
    "__isoc23_strtoull"sv,
    "__isoc99_sscanf"sv,
    "__memcpy_chk"sv,
    "__memmove_chk"sv,
    "__memset_chk"sv,
    "__snprintf_chk"sv,
    "__sprintf_chk"sv,
    "__stack_chk_fail"sv,
    "__stack_chk_guard"sv,
    "__strcat_chk"sv,
    "__strcpy_chk"sv,
    "__strncpy_chk"sv,
    "__tls_get_addr"sv,
    "__vsnprintf_chk"sv,
    "abort"sv,
    "aligned_alloc"sv,
    "bcmp"sv,
    "bsearch"sv,
    "calloc"sv,
    "dl_iterate_phdr"sv,
    "free"sv,
    "gmtime_r"sv,
    "isalnum"sv,
    "isalpha"sv,
    "iscntrl"sv,
    "isdigit"sv,
    "isgraph"sv,
    "islower"sv,
    "isprint"sv,
    "ispunct"sv,
    "isspace"sv,
    "isupper"sv,
    "isxdigit"sv,
    "labs"sv,
    "ldiv"sv,
    "malloc"sv,
    "malloc_usable_size"sv,
    "memchr"sv,
    "memcmp"sv,
    "memcpy"sv,
    "memmem"sv,
    "memmove"sv,
    "mempcpy"sv,
    "memrchr"sv,
    "memset"sv,
    "posix_memalign"sv,
    "qsort"sv,
    "realloc"sv,
    "snprintf"sv,
    "sprintf"sv,
    "sscanf"sv,
    "stpcpy"sv,
    "strcasecmp"sv,
    "strcat"sv,
    "strchr"sv,
    "strcmp"sv,
    "strcoll"sv,
    "strcpy"sv,
    "strcspn"sv,
    "strdup"sv,
    "strerror_r"sv,
    "strftime"sv,
    "strlen"sv,
    "strncasecmp"sv,
    "strncat"sv,
    "strncmp"sv,
    "strncpy"sv,
    "strndup"sv,
    "strnlen"sv,
    "strpbrk"sv,
    "strrchr"sv,
    "strspn"sv,
    "strstr"sv,
    "strtod"sv,
    "strtof"sv,
    "strtol"sv,
    "strtold"sv,
    "strtoll"sv,
    "strtoul"sv,
    "strtoull"sv,
    "timegm"sv,
    "tolower"sv,
    "toupper"sv,
    "vsnprintf"sv,
    "vsprintf"sv,
    "wcslen"sv,
    "wmemchr"sv,
    "wmemcmp"sv,
    "wmemcpy"sv,
    "wmemmove"sv,
    "wmemset"sv,
};
static_assert(std::ranges::is_sorted(plain));

// Each also with an `f` or an `l` at its end, for the other kinds of floating point.
constexpr std::array mathematics{
    "acos"sv,       "acosh"sv,  "asin"sv,      "asinh"sv,  "atan"sv,  "atan2"sv,     "atanh"sv,
    "cbrt"sv,       "ceil"sv,   "copysign"sv,  "cos"sv,    "cosh"sv,  "erf"sv,       "erfc"sv,
    "exp"sv,        "exp2"sv,   "expm1"sv,     "fabs"sv,   "fdim"sv,  "floor"sv,     "fma"sv,
    "fmax"sv,       "fmin"sv,   "fmod"sv,      "frexp"sv,  "hypot"sv, "ilogb"sv,     "ldexp"sv,
    "lgamma"sv,     "llrint"sv, "llround"sv,   "log"sv,    "log10"sv, "log1p"sv,     "log2"sv,
    "logb"sv,       "lrint"sv,  "lround"sv,    "modf"sv,   "nan"sv,   "nearbyint"sv, "nextafter"sv,
    "nexttoward"sv, "pow"sv,    "remainder"sv, "remquo"sv, "rint"sv,  "round"sv,     "scalbln"sv,
    "scalbn"sv,     "sin"sv,    "sincos"sv,    "sinh"sv,   "sqrt"sv,  "tan"sv,       "tanh"sv,
    "tgamma"sv,     "trunc"sv};
static_assert(std::ranges::is_sorted(mathematics));

// Those that a mistake is most often made with, to say what it is.
struct known_import {
    std::string_view begins{};
    import_kind kind{};
};
constexpr std::array known{
    known_import{"clock", import_kind::clock},
    known_import{"ftime", import_kind::clock},
    known_import{"gettimeofday", import_kind::clock},
    known_import{"localtime", import_kind::clock},
    known_import{"mktime", import_kind::clock},
    known_import{"nanosleep", import_kind::clock},
    known_import{"sleep", import_kind::clock},
    known_import{"time", import_kind::clock},
    known_import{"usleep", import_kind::clock},
    known_import{"arc4random", import_kind::chance},
    known_import{"drand48", import_kind::chance},
    known_import{"getentropy", import_kind::chance},
    known_import{"getrandom", import_kind::chance},
    known_import{"lrand48", import_kind::chance},
    known_import{"rand", import_kind::chance},
    known_import{"srand", import_kind::chance},
    known_import{"pthread_", import_kind::thread},
    known_import{"sem_", import_kind::thread},
    known_import{"thrd_", import_kind::thread},
    known_import{"accept", import_kind::outside},
    known_import{"bind", import_kind::outside},
    known_import{"connect", import_kind::outside},
    known_import{"creat", import_kind::outside},
    known_import{"dlopen", import_kind::outside},
    known_import{"dlsym", import_kind::outside},
    known_import{"exec", import_kind::outside},
    known_import{"fopen", import_kind::outside},
    known_import{"fork", import_kind::outside},
    known_import{"fprintf", import_kind::outside},
    known_import{"fread", import_kind::outside},
    known_import{"fwrite", import_kind::outside},
    known_import{"getaddrinfo", import_kind::outside},
    known_import{"getenv", import_kind::outside},
    known_import{"kill", import_kind::outside},
    known_import{"mmap", import_kind::outside},
    known_import{"mprotect", import_kind::outside},
    known_import{"open", import_kind::outside},
    known_import{"popen", import_kind::outside},
    known_import{"posix_spawn", import_kind::outside},
    known_import{"printf", import_kind::outside},
    known_import{"ptrace", import_kind::outside},
    known_import{"puts", import_kind::outside},
    known_import{"read", import_kind::outside},
    known_import{"recv", import_kind::outside},
    known_import{"secure_getenv", import_kind::outside},
    known_import{"send", import_kind::outside},
    known_import{"sigaction", import_kind::outside},
    known_import{"socket", import_kind::outside},
    known_import{"stat", import_kind::outside},
    known_import{"stderr", import_kind::outside},
    known_import{"stdin", import_kind::outside},
    known_import{"stdout", import_kind::outside},
    known_import{"syscall", import_kind::outside},
    known_import{"system", import_kind::outside},
    known_import{"unlink", import_kind::outside},
    known_import{"vfork", import_kind::outside},
    known_import{"write", import_kind::outside},
};

// Inside names of C++: a name with its length before it.
constexpr std::array fragments{
    known_import{"_clock3now", import_kind::clock},
    known_import{"5tzdb_", import_kind::outside},
    known_import{"13random_device", import_kind::chance},
    known_import{"10this_thread", import_kind::thread},
    known_import{"St6thread", import_kind::thread},
    known_import{"St7jthread", import_kind::thread},
    known_import{"18condition_variable", import_kind::thread},
    known_import{"22condition_variable_any", import_kind::thread},
    known_import{"13__future_base", import_kind::thread},
    known_import{"28__atomic_futex_unsigned_base", import_kind::thread},
    known_import{"10filesystem", import_kind::outside},
    known_import{"13basic_filebuf", import_kind::outside},
    known_import{"14basic_ifstream", import_kind::outside},
    known_import{"14basic_ofstream", import_kind::outside},
    known_import{"13basic_fstream", import_kind::outside},
    known_import{"12__basic_file", import_kind::outside},
    known_import{"15stdio_sync_filebuf", import_kind::outside},
    known_import{"13stdio_filebuf", import_kind::outside},
    known_import{"13buffered_file", import_kind::outside},
    known_import{"3fmt2v94file", import_kind::outside},
    known_import{"6vprint", import_kind::outside},
};
constexpr std::array streams{"_ZSt3cin"sv, "_ZSt4cerr"sv, "_ZSt4clog"sv, "_ZSt4cout"sv,
                             "_ZSt4wcin"sv, "_ZSt5wcerr"sv, "_ZSt5wclog"sv, "_ZSt5wcout"sv,
                             // A locale of a name is read from files.
                             "_ZNSt6localeC1EPKc"sv, "_ZNSt6localeC2EPKc"sv};

constexpr std::array name_spaces{"St"sv,         "Sa"sv,           "Sb"sv,
                                 "Ss"sv,         "Si"sv,           "So"sv,
                                 "Sd"sv,         "5boost4json"sv,  "5boost9container"sv,
                                 "9__gnu_cxx"sv, "10__cxxabiv1"sv, "3fmt2v"sv,
                                 "8simdjson"sv};

bool is_in(const auto& list, std::string_view name) {
    return std::ranges::binary_search(list, name);
}

bool is_mathematics(std::string_view name) {
    if (is_in(mathematics, name)) return true;
    return !name.empty() && (name.back() == 'f' || name.back() == 'l') &&
           is_in(mathematics, name.substr(0, name.size() - 1));
}

/// Whether a name of C++ is of the standard library, or of those that the runner has beside it.
bool is_of_libraries(std::string_view name) {
    name.remove_prefix("_Z"sv.size());
    for (const auto memory : {"nw"sv, "na"sv, "dl"sv, "da"sv})
        if (name.starts_with(memory)) return true;
    for (const auto table : {"TV"sv, "TI"sv, "TS"sv, "TT"sv, "GV"sv}) {
        if (!name.starts_with(table)) continue;
        name.remove_prefix(table.size());
        if (name.starts_with('P')) name.remove_prefix(1);
        if (name.starts_with('K')) name.remove_prefix(1);
        if (name.size() == 1) return true;  // Of a type of the language.
        break;
    }
    if (name.starts_with('N')) {
        name.remove_prefix(1);
        while (name.starts_with('K') || name.starts_with('R') || name.starts_with('O'))
            name.remove_prefix(1);
    }
    return std::ranges::any_of(name_spaces,
                               [&](std::string_view each) { return name.starts_with(each); });
}

import_kind judge_cpp(std::string_view symbol) {
    if (std::ranges::find(streams, symbol) != streams.end()) return import_kind::outside;
    for (const auto& each : fragments)
        if (symbol.find(each.begins) != std::string_view::npos) return each.kind;
    return is_of_libraries(symbol) ? import_kind::allowed : import_kind::unknown;
}

std::string_view advice(import_kind kind) {
    switch (kind) {
        case import_kind::clock: return "it asks a clock, where f.now() gives the step's time";
        case import_kind::chance:
            return "it draws by chance, where f.random() gives the same again";
        case import_kind::thread:
            return "it has threads, which do not come again in the same order";
        case import_kind::outside:
            return "it reaches out of the workflow; call a service, or use a linked workflow";
        case import_kind::allowed:
        case import_kind::unknown: break;
    }
    return "it is not among the functions that a deployed workflow may use";
}

}  // namespace

import_kind judge_import(std::string_view symbol) noexcept {
    if (symbol.starts_with("_Z")) return judge_cpp(symbol);
    if (is_in(plain, symbol) || is_mathematics(symbol)) return import_kind::allowed;
    for (const auto& each : known)
        if (symbol.starts_with(each.begins)) return each.kind;
    if (symbol.starts_with("__cxa_") || symbol.starts_with("_Unwind_")) return import_kind::allowed;
    return import_kind::unknown;
}

bool is_library_there(std::string_view name) noexcept { return is_in(libraries, name); }

inspected<> check_imports(const elf_image& image) {
    for (const auto each : image.needed)
        if (!is_library_there(each))
            return refuse(binary_flaw::needs_library,
                          "the binary needs the library {}, which the runner does not have; link "
                          "it statically, or do without it",
                          shown_name(each));
    for (const auto& each : image.imports) {
        const auto kind = judge_import(each.name);
        if (kind == import_kind::allowed) continue;
        if (kind == import_kind::unknown && each.is_weak) continue;  // It is there, or is null.
        return refuse(binary_flaw::forbidden_import, "the binary imports {}: {}",
                      shown_name(each.name), advice(kind));
    }
    return {};
}

}  // namespace posthorn
