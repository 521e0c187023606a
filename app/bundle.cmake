# SPDX-License-Identifier: Apache-2.0
# Run by CPack when the archive's files are in place: adds Qt with its plugins and every library that a
# system may lack, so that the programs start without root, compiler and network.
#
# Left to the system are glibc and the two libraries of g++, which drivers share with the program and
# which are newer wherever glibc is. The programs find theirs by a run path (DT_RPATH, which also
# serves the libraries of libraries and plugins, and which LD_LIBRARY_PATH does not override).
file(GLOB root LIST_DIRECTORIES true "${CPACK_TEMPORARY_INSTALL_DIRECTORY}")
if(NOT EXISTS "${root}/bin/parallelarium")
  file(GLOB root LIST_DIRECTORIES true "${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*/bin")
  get_filename_component(root "${root}" DIRECTORY)
endif()
find_program(PATCHELF patchelf REQUIRED)
find_program(QMAKE NAMES qmake6 REQUIRED)
execute_process(COMMAND ${QMAKE} -query QT_INSTALL_PLUGINS OUTPUT_VARIABLE qt_plugins
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${QMAKE} -query QT_INSTALL_TRANSLATIONS OUTPUT_VARIABLE qt_translations
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)

# No plugin for OpenGL: the window paints without, and drivers stay out of the process.
set(plugins "")
foreach(plugin platforms/libqxcb.so platforms/libqoffscreen.so platforms/libqwayland-generic.so
               wayland-shell-integration/libxdg-shell.so wayland-decoration-client/libbradient.so
               platforminputcontexts/libcomposeplatforminputcontextplugin.so
               platforminputcontexts/libibusplatforminputcontextplugin.so
               imageformats/libqsvg.so iconengines/libqsvgicon.so)
  get_filename_component(folder ${plugin} DIRECTORY)
  if(NOT EXISTS ${qt_plugins}/${plugin})
    message(FATAL_ERROR "The archive needs Qt's plugin ${plugin}; app/package installs it.")
  endif()
  file(INSTALL ${qt_plugins}/${plugin} DESTINATION "${root}/lib/qt6/plugins/${folder}")
  list(APPEND plugins ${qt_plugins}/${plugin})
endforeach()
foreach(language de)
  file(INSTALL ${qt_translations}/qtbase_${language}.qm DESTINATION "${root}/lib/qt6/translations")
endforeach()
file(WRITE "${root}/bin/qt.conf"
     "[Paths]\nPrefix = ../lib/qt6\nPlugins = plugins\nTranslations = translations\n")

file(GET_RUNTIME_DEPENDENCIES
  EXECUTABLES "${root}/bin/parallelarium" "${root}/bin/parallelarium-engine"
  MODULES ${plugins}
  RESOLVED_DEPENDENCIES_VAR libraries
  POST_EXCLUDE_REGEXES
    "/(ld-linux.*|lib(c|m|dl|rt|pthread|resolv|util|anl|mvec|nsl|stdc\\+\\+|gcc_s))\\.so\\.[0-9]+$")
foreach(library ${libraries})
  # Under the name that is asked for, without the chain of links.
  get_filename_component(name ${library} NAME)
  file(REAL_PATH ${library} file)
  file(COPY_FILE ${file} "${root}/lib/${name}")
endforeach()
foreach(program parallelarium parallelarium-engine)
  execute_process(COMMAND ${PATCHELF} --force-rpath --set-rpath "$ORIGIN/../lib" "${root}/bin/${program}"
                  COMMAND_ERROR_IS_FATAL ANY)
endforeach()

# Whose libraries these are, and under which terms: Debian's own record of each package.
set(folder "${root}/share/doc/parallelarium")
file(MAKE_DIRECTORY "${folder}/libraries")
set(packages "")
foreach(file ${libraries} ${plugins})
  # dpkg may know /usr/lib as /lib.
  file(REAL_PATH ${file} real)
  string(REGEX REPLACE "^/usr/" "/" real "${real}")
  execute_process(COMMAND dpkg-query -S "*${real}" OUTPUT_VARIABLE owner
                  COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCH "^[^:, ]+" owner "${owner}")
  list(APPEND packages ${owner})
endforeach()
list(REMOVE_DUPLICATES packages)
list(SORT packages)
set(list "")
foreach(package ${packages})
  execute_process(COMMAND dpkg-query -W -f "\${source:Package} \${source:Version}\n" ${package}
                  OUTPUT_VARIABLE source COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCH "^[^\n]+" source "${source}")
  string(APPEND list "${package}: ${source}\n")
  file(COPY_FILE /usr/share/doc/${package}/copyright "${folder}/libraries/${package}.txt")
endforeach()
file(WRITE "${folder}/libraries/README.txt"
"The libraries in lib/ are those of Debian, unchanged. Qt is under the GNU Lesser General Public License,
version 3: you may put another build of the same library in place of the one here. Each package's
copyright and licence is in the file of its name beside this one; the texts of the common licences are
in common-licenses/. The sources are Debian's, of the package and version behind the colon, at
https://snapshot.debian.org.

${list}")
file(INSTALL /usr/share/common-licenses DESTINATION "${folder}/libraries")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/../LICENSES" DESTINATION "${folder}")
file(CREATE_LINK bin/parallelarium "${root}/parallelarium" SYMBOLIC)
