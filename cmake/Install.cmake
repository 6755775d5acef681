include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS posthorn posthorn_public posthorn_in_binary EXPORT posthorn_targets
    FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS posthorn_cli)
# Beside the program, where that looks for it.
install(TARGETS posthorn_runner)
install(EXPORT posthorn_targets NAMESPACE posthorn:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/posthorn)
configure_package_config_file(cmake/posthornConfig.cmake.in posthornConfig.cmake
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/posthorn)
write_basic_package_version_file(posthornConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/posthornConfig.cmake cmake/PosthornServiceLink.cmake
    cmake/PosthornWorkflowBinary.cmake cmake/workflow_binary.map
    ${CMAKE_CURRENT_BINARY_DIR}/posthornConfigVersion.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/posthorn)
file(RELATIVE_PATH POSTHORN_PREFIX_FROM_PC
    ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
if(POSTHORN_POSTGRES)
    set(POSTHORN_PC_POSTGRES " libpq")
endif()
set(POSTHORN_PC_BROKERS "")
if(POSTHORN_AMQP)
    string(APPEND POSTHORN_PC_BROKERS " librabbitmq")
endif()
if(POSTHORN_NATS)
    string(APPEND POSTHORN_PC_BROKERS " libnats")
endif()
if(POSTHORN_KAFKA)
    string(APPEND POSTHORN_PC_BROKERS " rdkafka")
endif()
set(POSTHORN_PC_GRPC "")
if(POSTHORN_GRPC)
    set(POSTHORN_PC_GRPC "-lgrpc++_reflection -lgrpc++ -lgrpc -lgpr -lprotobuf -labsl_synchronization")
    install(FILES docs/reference/rf_receiver.proto DESTINATION ${CMAKE_INSTALL_DATADIR}/posthorn)
endif()
configure_file(cmake/posthorn.pc.in posthorn.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/posthorn.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# For people: what to read, a configuration to begin with, a unit of systemd to copy, alerts and a dashboard.
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES README.md CHANGELOG.md SECURITY.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES posthorn.example.toml packaging/posthorn.service DESTINATION ${CMAKE_INSTALL_DATADIR}/posthorn)
install(FILES packaging/prometheus/posthorn.rules.yml DESTINATION ${CMAKE_INSTALL_DATADIR}/posthorn/prometheus)
install(FILES packaging/grafana/posthorn.json DESTINATION ${CMAKE_INSTALL_DATADIR}/posthorn/grafana)
install(FILES packaging/posthorn.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

# Completions of commands for the shells, printed by the program itself.
foreach(place IN ITEMS
        bash:bash-completion/completions/posthorn
        zsh:zsh/site-functions/_posthorn
        fish:fish/vendor_completions.d/posthorn.fish)
    string(REPLACE ":" ";" place ${place})
    list(GET place 0 shell)
    list(GET place 1 file)
    install(CODE "
        set(file \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/${file}\")
        get_filename_component(folder \"\${file}\" DIRECTORY)
        file(MAKE_DIRECTORY \"\${folder}\")
        message(STATUS \"Installing: \${file}\")
        execute_process(COMMAND \"$<TARGET_FILE:posthorn_cli>\" completion ${shell}
            OUTPUT_FILE \"\${file}\" COMMAND_ERROR_IS_FATAL ANY)")
endforeach()
