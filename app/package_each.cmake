# SPDX-License-Identifier: Apache-2.0
# Read by CPack once for each generator.
if(CPACK_GENERATOR STREQUAL "DEB")
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each component's description begins with its own
else()
  # One archive of everything; libraries are added once it is all in place.
  set(CPACK_MONOLITHIC_INSTALL ON)
  set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/bundle.cmake)
endif()
