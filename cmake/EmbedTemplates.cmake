# Writes OUTPUT, a C++ file that holds the text of the templates FILES (a list), one map entry each.
#   cmake -DOUTPUT=... -DFILES=a.inja;b.inja -P EmbedTemplates.cmake
set(entries "")
foreach(file IN LISTS FILES)
  get_filename_component(name "${file}" NAME)
  file(READ "${file}" text)
  string(APPEND entries "      {\"${name}\", R\"inja(${text})inja\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Made from templates/ by cmake/EmbedTemplates.cmake.
#include \"fdbpack/conf/template.hpp\"

namespace fdbpack::conf {

const TemplateSet& builtin_templates() {
  static const TemplateSet templates{
${entries}  };
  return templates;
}

}  // namespace fdbpack::conf
")
