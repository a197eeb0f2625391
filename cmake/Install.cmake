# What `cmake --install` puts where; below a prefix of /usr this is where Debian wants it.
#
#   bin/fdbpack, bin/fdbpack-agent
#   lib/fdbpack/dropins/   the agent under the names whose work it does; put it first in a PATH, or link what is in it
#   lib/systemd/system/, lib/sysusers.d/, lib/tmpfiles.d/, share/man/
#   share/fdbpack/templates/, share/doc/fdbpack/ with examples/
#
# The unit names the program by its path, which is known only when it is installed.
install(TARGETS fdbpack fdbpack-agent RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES packaging/sysusers.d/fdbpack.conf DESTINATION lib/sysusers.d)
install(FILES packaging/tmpfiles.d/fdbpack.conf DESTINATION lib/tmpfiles.d)
install(FILES packaging/man/fdbpack-agent.8 DESTINATION ${CMAKE_INSTALL_MANDIR}/man8)
install(DIRECTORY templates DESTINATION share/fdbpack)
install(FILES README.md CHANGELOG.md DESTINATION share/doc/fdbpack)
install(FILES LICENSE DESTINATION share/doc/fdbpack RENAME copyright)
install(DIRECTORY docs/ DESTINATION share/doc/fdbpack FILES_MATCHING PATTERN "*.md" PATTERN design EXCLUDE)
install(DIRECTORY examples packaging/examples DESTINATION share/doc/fdbpack)
# Whoever builds an image has put FoundationDB's binaries into fdb/.
install(DIRECTORY packaging/container DESTINATION share/doc/fdbpack REGEX "/container/fdb$" EXCLUDE)
install(FILES packaging/container/fdb/README.md DESTINATION share/doc/fdbpack/container/fdb)

file(RELATIVE_PATH to_agent /lib/fdbpack/dropins /${CMAKE_INSTALL_BINDIR}/fdbpack-agent)
install(CODE "
  set(place \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/fdbpack/dropins\")
  file(MAKE_DIRECTORY \"\${place}\")
  foreach(name fdbmonitor sidecar.py fdb-kubernetes-monitor)
    file(CREATE_LINK ${to_agent} \"\${place}/\${name}\" SYMBOLIC)
  endforeach()
  file(READ \"${PROJECT_SOURCE_DIR}/systemd/fdbpack-agent.service\" unit)
  string(REPLACE \"=/usr/bin/\" \"=\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/\" unit \"\${unit}\")
  file(WRITE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/systemd/system/fdbpack-agent.service\" \"\${unit}\")")

# cpack -G DEB, from the build folder of the preset release.
install(FILES packaging/default/fdbpack-agent DESTINATION /etc/default COMPONENT configuration EXCLUDE_FROM_ALL)
set(CPACK_GENERATOR DEB)
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};fdbpack;ALL;/;${PROJECT_BINARY_DIR};fdbpack;configuration;/")
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_NAME fdbpack)
set(CPACK_PACKAGE_CONTACT "The fdbpack authors <fdbpack@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "An agent that supervises fdbserver in place of fdbmonitor, and a placement engine.
 The database's processes outlive crashes and upgrades of the agent.")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION database)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "systemd")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
  "${PROJECT_SOURCE_DIR}/packaging/debian/conffiles;${PROJECT_SOURCE_DIR}/packaging/debian/postinst;${PROJECT_SOURCE_DIR}/packaging/debian/prerm;${PROJECT_SOURCE_DIR}/packaging/debian/postrm")
include(CPack)
