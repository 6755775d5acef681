# One folder is one target. A file that lies in a folder belongs to its target, so a new file needs
# no line here or there; what a folder may use is said once, where the folder is declared, and
# tests/structure holds the include lines against the same rules.

# posthorn_folder(<name> [USES <folders below>...] [LINKS <libraries>...] [WITHOUT <subfolder>])
# Declares src/<name> as target posthorn_<name>, a part of the library. A `cli` folder inside is not:
# see posthorn_program.
function(posthorn_folder name)
    cmake_parse_arguments(PARSE_ARGV 1 part "" "WITHOUT" "")
    set(left_out "/${name}/cli/")
    if(part_WITHOUT)
        string(APPEND left_out "|/${name}/${part_WITHOUT}/")
    endif()
    posthorn_objects(${name} EXCLUDE "${left_out}" ${part_UNPARSED_ARGUMENTS})
    set_property(GLOBAL APPEND PROPERTY POSTHORN_FOLDERS posthorn_${name})
endfunction()

# posthorn_program(<folder> [USES <folders below>...] [LINKS <libraries>...])
# Declares src/<folder> without its main.cpp as target posthorn_<folder>, no part of the library.
function(posthorn_program name)
    posthorn_objects(${name} EXCLUDE "/main[.]cpp$" ${ARGN})
endfunction()

# The objects of a folder; files whose path matches EXCLUDE are left out.
function(posthorn_objects name)
    cmake_parse_arguments(PARSE_ARGV 1 folder "" "EXCLUDE" "USES;LINKS")
    string(REPLACE "/" "_" target "posthorn_${name}")
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
    file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.hpp)
    list(FILTER sources EXCLUDE REGEX "${folder_EXCLUDE}|${POSTHORN_LEFT_OUT}")
    list(FILTER headers EXCLUDE REGEX "${folder_EXCLUDE}|${POSTHORN_LEFT_OUT}")
    list(TRANSFORM folder_USES PREPEND posthorn_)

    # A header that its own .cpp includes first, as the format check demands, is compiled alone there.
    foreach(header IN LISTS headers)
        string(REGEX REPLACE "[.]hpp$" ".cpp" source ${header})
        if(source IN_LIST sources)
            list(APPEND proven ${header})
        else()
            list(APPEND unproven ${header})
        endif()
    endforeach()

    add_library(${target} OBJECT ${sources})
    target_sources(${target} PUBLIC
        FILE_SET proven TYPE HEADERS BASE_DIRS ${CMAKE_CURRENT_SOURCE_DIR} FILES ${proven}
        FILE_SET unproven TYPE HEADERS BASE_DIRS ${CMAKE_CURRENT_SOURCE_DIR} FILES ${unproven})
    target_link_libraries(${target} PUBLIC posthorn_public ${folder_USES} ${folder_LINKS} PRIVATE posthorn_flags)
    set_target_properties(${target} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ${POSTHORN_VERIFY_HEADERS}
        INTERFACE_HEADER_SETS_TO_VERIFY unproven)
    # Where headers are proven, an include that is missing has to show. What measures is linked without Asio.
    if(POSTHORN_PCH AND NOT POSTHORN_VERIFY_HEADERS AND NOT name STREQUAL "measure")
        target_precompile_headers(${target} PRIVATE <algorithm> <chrono> <deque> <expected> <functional>
            <map> <memory> <mutex> <optional> <span> <string> <variant> <vector> <fmt/format.h>
            <boost/asio/any_io_executor.hpp> <boost/asio/awaitable.hpp> <boost/asio/use_awaitable.hpp>)
    endif()
endfunction()

# posthorn_test(<name> [SERIAL] [POSTGRES] LABELS <labels>... SOURCES <files>... [LINKS <libraries>...])
# One executable of GoogleTest cases, each registered with CTest under its own name. SERIAL ones
# measure time and run beside nothing else. POSTGRES ones find the private server running.
function(posthorn_test name)
    cmake_parse_arguments(PARSE_ARGV 1 test "SERIAL;POSTGRES" "" "LABELS;SOURCES;LINKS")
    add_executable(${name} ${test_SOURCES})
    target_link_libraries(${name} PRIVATE posthorn_flags posthorn posthorn_internal test_support GTest::gmock_main ${test_LINKS})
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
    if(POSTHORN_PCH)
        target_precompile_headers(${name} REUSE_FROM test_headers)
    endif()
    # What ./test runs under a sanitizer, so that it builds nothing else for it.
    if(NOT TARGET sanitized_tests)
        add_custom_target(sanitized_tests)
    endif()
    if(test_LABELS MATCHES "^(unit|conformance)$")
        add_dependencies(sanitized_tests ${name})
    endif()
    if(test_POSTGRES)
        set(needs FIXTURES_REQUIRED postgres ENVIRONMENT "POSTHORN_TEST_POSTGRES=${POSTHORN_TEST_POSTGRES}")
    endif()
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 NO_PRETTY_VALUES
        PROPERTIES LABELS "${test_LABELS}" TIMEOUT 300 RUN_SERIAL ${test_SERIAL} ${needs})
endfunction()
