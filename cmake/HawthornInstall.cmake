# What `cmake --install` and `cpack` put where. tests/package installs it and builds programs on it.
set(HAWTHORN_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/hawthorn)

hawthorn_install_targets(hawthorn_static hawthorn_shared EXPORT)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/hawthorn DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
install(FILES ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

# What a release is made of.
find_package(Python3 QUIET COMPONENTS Interpreter)
if(Python3_FOUND AND NOT CMAKE_CROSSCOMPILING)
  set(bill ${PROJECT_BINARY_DIR}/hawthorn.cdx.json)
  set(binaries $<TARGET_FILE:hawthorn_shared>)
  if(TARGET hawthorn)
    list(APPEND binaries $<TARGET_FILE:hawthorn>)
  endif()
  add_custom_command(OUTPUT ${bill}
    COMMAND Python3::Interpreter -B ${PROJECT_SOURCE_DIR}/scripts/sbom.py
            --version ${PROJECT_VERSION} --output ${bill} ${binaries}
    DEPENDS ${PROJECT_SOURCE_DIR}/scripts/sbom.py hawthorn_shared $<TARGET_NAME_IF_EXISTS:hawthorn>
    VERBATIM)
  add_custom_target(hawthorn_bill ALL DEPENDS ${bill})
  add_dependencies(hawthorn_installed hawthorn_bill)
  install(FILES ${bill} DESTINATION ${CMAKE_INSTALL_DOCDIR})
endif()

if(TARGET hawthorn)
  hawthorn_install_targets(hawthorn)
  if(TARGET hawthorn_texts)
    add_dependencies(hawthorn_installed hawthorn_texts)
    set(texts ${PROJECT_BINARY_DIR}/tools/texts)
    install(FILES ${texts}/hawthorn.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    install(FILES ${texts}/hawthorn.bash RENAME hawthorn
      DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES ${texts}/_hawthorn DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    install(FILES ${texts}/hawthorn.fish
      DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
  endif()
endif()
if(TARGET hawthorn-bench)
  # Where it was built: `hawthorn_installed` leaves it out.
  install(TARGETS hawthorn-bench RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
    COMPONENT bench OPTIONAL)
endif()

# Of other packages, by their names for the linker; hawthorn::static and hawthorn.pc name them.
set(HAWTHORN_LIBRARIES hwy lz4 zstd crypto)
if(HAWTHORN_URING_FOUND)
  list(APPEND HAWTHORN_LIBRARIES uring)
endif()
list(TRANSFORM HAWTHORN_LIBRARIES PREPEND -l OUTPUT_VARIABLE HAWTHORN_PC_LIBRARIES)
list(JOIN HAWTHORN_PC_LIBRARIES " " HAWTHORN_PC_LIBRARIES)
list(JOIN HAWTHORN_LIBRARIES " " HAWTHORN_LIBRARIES)

install(EXPORT hawthornTargets NAMESPACE hawthorn:: DESTINATION ${HAWTHORN_CMAKE_DIR})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/hawthornConfig.cmake.in
  ${PROJECT_BINARY_DIR}/hawthornConfig.cmake INSTALL_DESTINATION ${HAWTHORN_CMAKE_DIR})
# Before 1.0 a minor version may change the API.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hawthornConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/hawthornConfig.cmake
              ${PROJECT_BINARY_DIR}/hawthornConfigVersion.cmake
  DESTINATION ${HAWTHORN_CMAKE_DIR})

file(RELATIVE_PATH HAWTHORN_PC_PREFIX
  /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(${CMAKE_CURRENT_LIST_DIR}/hawthorn.pc.in ${PROJECT_BINARY_DIR}/hawthorn.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/hawthorn.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Without the benchmarks: the package would depend on every rival.
set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};hawthorn;hawthorn;/")
# With SOURCE_DATE_EPOCH set, as scripts/package.sh does, the same build gives the same bytes.
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_FILE_NAME
    hawthorn-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PACKAGE_VENDOR "The Hawthorn authors")
set(CPACK_PACKAGE_CONTACT "The Hawthorn authors <maintainers@hawthorn.invalid>")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION database)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
include(CPack)
