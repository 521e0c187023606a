# SPDX-License-Identifier: Apache-2.0
# At installation: manual pages and completions, written by the programs themselves.
# MANUALS: a file with lines "name|program|word that asks for a manual"; DATA_FOLDER: "share".
set(data "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${DATA_FOLDER}")
file(STRINGS ${MANUALS} lines)
foreach(line ${lines})
  string(REPLACE "|" ";" words "${line}")
  list(GET words 0 name)
  list(GET words 1 program)
  list(GET words 2 word)
  foreach(format "man:man/man1/${name}.1" "bash:bash-completion/completions/${name}"
                 "zsh:zsh/vendor-completions/_${name}" "fish:fish/vendor_completions.d/${name}.fish")
    string(REGEX MATCH "^[a-z]+" kind ${format})
    string(REGEX REPLACE "^[a-z]+:" "" path ${format})
    get_filename_component(folder "${data}/${path}" DIRECTORY)
    file(MAKE_DIRECTORY "${folder}")
    message(STATUS "Installing: ${data}/${path}")
    execute_process(
      COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C QT_QPA_PLATFORM=offscreen ${program} ${word} ${kind}
      OUTPUT_FILE "${data}/${path}" COMMAND_ERROR_IS_FATAL ANY)
    if(kind STREQUAL "man")
      execute_process(COMMAND gzip -9nf "${data}/${path}" COMMAND_ERROR_IS_FATAL ANY)
    endif()
  endforeach()
endforeach()
