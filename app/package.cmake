# SPDX-License-Identifier: Apache-2.0
# What is installed, and the packages that CPack makes of it (app/package):
#   parallelarium_VERSION_ARCH.deb       everything but the CUDA module, for Debian 12
#   parallelarium-cuda_VERSION_ARCH.deb  the CUDA module, where this build has one
#   parallelarium-VERSION-ARCH.tar.gz    everything, and with it Qt and what else a bare system lacks
#
# The installed programs look for lessons in ../share/parallelarium/lessons and for the CUDA module in
# ../lib/parallelarium; models, machines, fonts, icons and translations are inside them.
include(GNUInstallDirs)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME parallelarium)
set(CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

foreach(program parallelarium-engine parallelarium)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()
install(DIRECTORY lessons/ DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/parallelarium/lessons)
if(TARGET parallelarium)
  install(FILES resources/io.github.parallelarium.Parallelarium.desktop
          DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/applications)
  install(FILES resources/io.github.parallelarium.Parallelarium.metainfo.xml
          DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/metainfo)
  install(FILES resources/icons/parallelarium.svg
          DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/icons/hicolor/scalable/apps)
endif()

# The programs write their own manual pages and completions.
set(manuals "")
if(TARGET parallelarium-engine)
  string(APPEND manuals "parallelarium-engine|$<TARGET_FILE:parallelarium-engine>|manual\n")
endif()
if(TARGET parallelarium)
  string(APPEND manuals "parallelarium|$<TARGET_FILE:parallelarium>|--manual\n")
endif()
file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/manuals.txt CONTENT "${manuals}")
install(CODE "set(MANUALS [[${CMAKE_BINARY_DIR}/manuals.txt]])
set(DATA_FOLDER [[${CMAKE_INSTALL_DATAROOTDIR}]])")
install(SCRIPT app/install_manuals.cmake)

# The licence and the changes of each Debian package, where its policy wants them (chapter 12).
configure_file(app/debian/changelog.in ${CMAKE_BINARY_DIR}/debian/changelog @ONLY)
file(READ LICENSES/OFL-1.1.txt OFL_TEXT)
string(STRIP "${OFL_TEXT}" OFL_TEXT)
string(REGEX REPLACE "\n\n+" "\n.\n" OFL_TEXT "${OFL_TEXT}")
string(REPLACE "\n" "\n " OFL_TEXT "${OFL_TEXT}")
configure_file(app/debian/copyright.in ${CMAKE_BINARY_DIR}/debian/copyright @ONLY)
set(documents parallelarium)
if(TARGET parallelarium-cuda)
  list(APPEND documents parallelarium-cuda)
  install(FILES app/debian/parallelarium-cuda.lintian-overrides RENAME parallelarium-cuda
          DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/lintian/overrides COMPONENT cuda)
endif()
foreach(package ${documents})
  string(REPLACE "parallelarium-cuda" "cuda" component ${package})
  set(folder ${CMAKE_INSTALL_DATAROOTDIR}/doc/${package})
  install(FILES ${CMAKE_BINARY_DIR}/debian/copyright DESTINATION ${folder} COMPONENT ${component})
  install(CODE "execute_process(COMMAND gzip -9nc [[${CMAKE_BINARY_DIR}/debian/changelog]]
    OUTPUT_FILE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${folder}/changelog.gz\"
    COMMAND_ERROR_IS_FATAL ANY)" COMPONENT ${component})
endforeach()

set(CPACK_PACKAGE_NAME parallelarium)
set(CPACK_PACKAGE_VENDOR "The Parallelarium authors")
set(CPACK_PACKAGE_CONTACT "The Parallelarium authors <authors@parallelarium.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "workbench for distributed training of language models")
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_PACKAGE_FILE_NAME parallelarium-${PROJECT_VERSION}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS ${CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS})
# Sets what differs between the generators.
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/package_each.cmake)
set(CPACK_COMPONENTS_ALL parallelarium)
if(TARGET parallelarium-cuda)
  list(APPEND CPACK_COMPONENTS_ALL cuda)
  find_package(CUDAToolkit REQUIRED)  # for its version
endif()

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PARALLELARIUM_PACKAGE_NAME parallelarium)
set(CPACK_DEBIAN_PARALLELARIUM_PACKAGE_SECTION education)
set(CPACK_DEBIAN_PARALLELARIUM_PACKAGE_SHLIBDEPS ON)
# Qt's own words in the user's language, and windows on Wayland.
set(CPACK_DEBIAN_PARALLELARIUM_PACKAGE_RECOMMENDS "qt6-translations-l10n, qt6-wayland")
set(CPACK_DEBIAN_PARALLELARIUM_PACKAGE_SUGGESTS parallelarium-cuda)
# The first line of a description is the package's own summary.
set(CPACK_COMPONENT_PARALLELARIUM_DESCRIPTION
"${CPACK_PACKAGE_DESCRIPTION_SUMMARY}
Turn the parallel settings of a model and see at once what every rank will
do, when, and what it costs in memory and traffic. Press Run, and real ranks
on this computer train a real transformer that way: the same picture appears
again, measured. Short lessons lead through it.
.
The package holds the window (parallelarium), the command line
(parallelarium-engine) and the lessons. No GPU is needed.")

# The module links a library that no Debian package of this number brings: the description says which.
set(CPACK_DEBIAN_CUDA_PACKAGE_NAME parallelarium-cuda)
set(CPACK_DEBIAN_CUDA_PACKAGE_SECTION education)
set(CPACK_DEBIAN_CUDA_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_CUDA_PACKAGE_DEPENDS
    "parallelarium (= ${PROJECT_VERSION}), libc6, libgcc-s1, libstdc++6")
set(CPACK_COMPONENT_CUDA_DESCRIPTION
"NVIDIA GPUs as ranks of parallelarium
With this module the ranks of parallelarium are NVIDIA GPUs. It needs, and
Debian does not have, what comes with CUDA ${CUDAToolkit_VERSION_MAJOR}: a driver for it, the library
cuBLASLt (libcublasLt.so.${CUDAToolkit_VERSION_MAJOR}), and for several GPUs NCCL (libnccl.so.2), from
NVIDIA's packages or its wheels for Python. \"parallelarium-engine devices\"
says what is missing.")
include(CPack)
