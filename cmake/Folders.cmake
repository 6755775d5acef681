# One folder is one target. A file that lies in a folder belongs to its target, so a new file needs
# no line here or there; what a folder may use is said once, where the folder is declared, and
# tests/structure holds the include lines against the same rules.

# posthorn_folder(<name> [HEADERS <target>] [USES <folders below>...] [LINKS <libraries>...] [WITHOUT <subfolder>])
# Declares src/<name> as target posthorn_<name>, a part of the library. A `cli` folder inside is not:
# see posthorn_program. The headers of HEADERS are precompiled for it, or else of posthorn_headers.
function(posthorn_folder name)
    cmake_parse_arguments(PARSE_ARGV 1 part "" "WITHOUT" "")
    set(left_out "/${name}/cli/")
    if(part_WITHOUT)
        string(APPEND left_out "|/${name}/${part_WITHOUT}/")
    endif()
    posthorn_objects(${name} EXCLUDE "${left_out}" ${part_UNPARSED_ARGUMENTS})
    set_property(GLOBAL APPEND PROPERTY POSTHORN_FOLDERS posthorn_${name})
endfunction()

# posthorn_program(<folder> [HEADERS <target>] [USES <folders below>...] [LINKS <libraries>...])
# Declares src/<folder> without its main.cpp as target posthorn_<folder>, no part of the library.
function(posthorn_program name)
    posthorn_objects(${name} EXCLUDE "/main[.]cpp$" ${ARGN})
endfunction()

# posthorn_together(<out> <name> <root> <sources>...): files that include several of the sources each, by
# their paths from the root, to be compiled in a third of the time; cmake/unity.py says which go
# together. Grouped anew when CMake runs, so a source that takes a name of its neighbour's may ask for
# that: touch CMakeLists.txt.
function(posthorn_together out name root)
    set(joined ${ARGN})
    foreach(source IN LISTS ARGN)
        # Files that compile a library are long enough; the names of `using enum`, and the macros of the
        # kernel's numbers, are not seen; the others have definitions of their own.
        file(STRINGS ${source} alone LIMIT_COUNT 1 REGEX
            "^using enum |include <.*/src[.]hpp>|include <asm|POSTHORN_BUILD_TYPE|POSTHORN_WITH_|feature_list all_features")
        if(alone)
            list(REMOVE_ITEM joined ${source})
            list(APPEND left ${source})
        endif()
    endforeach()
    list(SORT joined)
    posthorn_planted_among(planted ${joined})
    if(NOT POSTHORN_SANITIZE)
        list(REMOVE_ITEM joined ${planted})
        posthorn_groups(planted ${name}_planted ${root} ${planted})
        posthorn_planted_among(planted_left ${left})
        set_property(GLOBAL APPEND PROPERTY POSTHORN_PLANTED ${planted} ${planted_left})
        list(APPEND left ${planted})
    endif()
    posthorn_groups(files ${name} ${root} ${joined})
    set(${out} ${left} ${files} PARENT_SCOPE)
endfunction()

# Of the sources those that have bugs planted in them: tests/planted compiles those a second time, each in
# place of the library's own, so that none may be together with one that has none. With sanitizers it
# does not.
function(posthorn_planted_among out)
    set(found "")
    foreach(source IN LISTS ARGN)
        file(STRINGS ${source} asks REGEX "POSTHORN_PLANTED\\(" LIMIT_COUNT 1)
        if(asks)
            list(APPEND found ${source})
        endif()
    endforeach()
    set(${out} ${found} PARENT_SCOPE)
endfunction()

function(posthorn_groups out name root)
    execute_process(COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/cmake/unity.py
            ${root} ${CMAKE_CURRENT_BINARY_DIR}/together ${name} 8 ${ARGN}
        OUTPUT_VARIABLE files OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    string(REPLACE "\n" ";" files "${files}")
    set(${out} ${files} PARENT_SCOPE)
endfunction()

# The objects of a folder; files whose path matches EXCLUDE are left out.
function(posthorn_objects name)
    cmake_parse_arguments(PARSE_ARGV 1 folder "" "EXCLUDE;HEADERS" "USES;LINKS")
    string(REPLACE "/" "_" target "posthorn_${name}")
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
    file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.hpp)
    list(FILTER sources EXCLUDE REGEX "${folder_EXCLUDE}|${POSTHORN_LEFT_OUT}")
    list(FILTER headers EXCLUDE REGEX "${folder_EXCLUDE}|${POSTHORN_LEFT_OUT}")
    list(TRANSFORM folder_USES PREPEND posthorn_)

    set(compiled ${sources})
    if(POSTHORN_UNITY)
        posthorn_together(compiled ${target} ${CMAKE_CURRENT_SOURCE_DIR} ${sources})
    endif()
    add_library(${target} OBJECT ${compiled})
    target_sources(${target} PUBLIC
        FILE_SET HEADERS BASE_DIRS ${CMAKE_CURRENT_SOURCE_DIR} FILES ${headers})
    target_link_libraries(${target} PUBLIC posthorn_public ${folder_USES} ${folder_LINKS} PRIVATE posthorn_flags)
    # What measures is linked without Asio.
    if(POSTHORN_PCH AND NOT name STREQUAL "measure")
        if(NOT folder_HEADERS)
            set(folder_HEADERS posthorn_headers)
        endif()
        target_precompile_headers(${target} REUSE_FROM ${folder_HEADERS})
    endif()
endfunction()

# posthorn_test(<name> [SERIAL] [POSTGRES] [OPTIMISED] [UNSANITIZED] [PARTS <number>] LABELS <labels>...
#     SOURCES <files>... [LINKS <libraries>...])
# One executable of GoogleTest cases, each registered with CTest under its own name. SERIAL ones
# measure time and run beside nothing else. POSTGRES ones find the private server running. The tests'
# own sources are not optimised, but for OPTIMISED ones, which do work of their own; the library is.
# Unit and conformance tests are built and run with sanitizers alone in ./test, but for UNSANITIZED ones,
# of code that takes longer to compile so than it is worth; the long ones run in PARTS beside each other.
function(posthorn_test name)
    cmake_parse_arguments(PARSE_ARGV 1 test "SERIAL;POSTGRES;OPTIMISED;UNSANITIZED" "PARTS" "LABELS;SOURCES;LINKS")
    if(POSTHORN_UNITY)
        foreach(source IN LISTS test_SOURCES)
            get_filename_component(source ${source} ABSOLUTE)
            list(APPEND absolute ${source})
        endforeach()
        posthorn_together(test_SOURCES ${name} ${PROJECT_SOURCE_DIR}/tests ${absolute})
    endif()
    add_executable(${name} ${test_SOURCES})
    target_link_libraries(${name} PRIVATE posthorn_flags posthorn posthorn_internal test_support GTest::gmock_main ${test_LINKS} test_warnings)
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
    set(headers test_headers_optimised)
    if(NOT test_OPTIMISED)
        target_compile_options(${name} PRIVATE -O0)
        set(headers test_headers)
    endif()
    if(POSTHORN_PCH)
        target_precompile_headers(${name} REUSE_FROM ${headers})
    endif()
    # The unit and conformance tests, which ./test builds and runs with sanitizers and only so: a build
    # without names this target to have them.
    if(NOT TARGET library_tests)
        add_custom_target(library_tests)
    endif()
    if(test_LABELS MATCHES "^(unit|conformance)$" AND NOT test_UNSANITIZED)
        add_dependencies(library_tests ${name})
        set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
    if(test_POSTGRES)
        set(needs FIXTURES_REQUIRED postgres ENVIRONMENT "POSTHORN_TEST_POSTGRES=${POSTHORN_TEST_POSTGRES}")
    endif()
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 600 NO_PRETTY_VALUES
        PROPERTIES LABELS "${test_LABELS}" RUN_SERIAL ${test_SERIAL} ${needs})
    # Some are built without sanitizers too, for the planted bugs, and are not run again for that. The
    # discovery takes one label alone.
    if(test_LABELS MATCHES "^(unit|conformance)$" AND NOT test_UNSANITIZED)
        set(labels ${CMAKE_CURRENT_BINARY_DIR}/${name}_labels.cmake)
        file(WRITE ${labels} "if(${name}_TESTS)
    set_tests_properties(\${${name}_TESTS} PROPERTIES LABELS \"${test_LABELS};library\")\nendif()\n")
        set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${labels})
    endif()
    # With a sanitizer a process takes longer to start than most tests to run, so ./test runs all of
    # a program, or of a part, in one; by name they can still be run alone.
    if(POSTHORN_SANITIZE AND test_LABELS MATCHES "^(unit|conformance)$" AND NOT test_UNSANITIZED)
        if(NOT test_PARTS)
            set(test_PARTS 1)
        endif()
        foreach(part RANGE 1 ${test_PARTS})
            math(EXPR index "${part} - 1")
            add_test(NAME whole.${name}.${part} COMMAND ${CMAKE_COMMAND} -E env
                GTEST_TOTAL_SHARDS=${test_PARTS} GTEST_SHARD_INDEX=${index} $<TARGET_FILE:${name}> --gtest_brief=1)
            set_tests_properties(whole.${name}.${part} PROPERTIES LABELS whole TIMEOUT 1800 ${needs})
        endforeach()
    endif()
endfunction()
