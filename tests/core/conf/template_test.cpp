// SPDX-License-Identifier: Apache-2.0
#include "fdbpack/conf/template.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fdbpack::conf {
namespace {

using model::ProcessClass;
using testing::HasSubstr;

TEST(Template, IsChosenFromTheMostParticularToTheGeneral) {
  TemplateSet templates{{"fdbmonitor-conf.inja", ""}};
  EXPECT_EQ(choose_template(templates, ProcessClass::storage, 2).value(), "fdbmonitor-conf.inja");
  templates["fdbmonitor-conf-storage.inja"] = "";
  EXPECT_EQ(choose_template(templates, ProcessClass::storage, 2).value(),
            "fdbmonitor-conf-storage.inja");
  templates["fdbmonitor-conf-storage-density-2.inja"] = "";
  EXPECT_EQ(choose_template(templates, ProcessClass::storage, 2).value(),
            "fdbmonitor-conf-storage-density-2.inja");
  EXPECT_EQ(choose_template(templates, ProcessClass::log, 1).value(), "fdbmonitor-conf.inja");
  EXPECT_FALSE(choose_template({}, ProcessClass::log, 1).has_value());
}

std::string error_of(const std::string& text) {
  return render({{"t.inja", text}, {"part.inja", "p"}}, "t.inja", R"({"name":"n"})")
      .error()
      .message;
}

TEST(Template, ErrorsNameFileLineColumnAndReason) {
  EXPECT_EQ(error_of("a\nb {{ nope }}"), "t.inja:2:6: variable 'nope' not found");
  EXPECT_THAT(error_of("a\n{% if %}"), HasSubstr("t.inja:2:"));
  EXPECT_THAT(error_of("a\n  {% include \"x\" %}"), HasSubstr("t.inja:2:14: there is no template"));
  const TemplateSet nested{{"t.inja", "{% include \"other.inja\" %}"}, {"other.inja", "x\n{{ \n"}};
  EXPECT_THAT(render(nested, "t.inja", "{}").error().message, HasSubstr("other.inja:"));
  const TemplateSet loop{{"a.inja", "{% include \"b.inja\" %}"},
                         {"b.inja", "{% include \"a.inja\" %}"}};
  EXPECT_THAT(render(loop, "a.inja", "{}").error().message, HasSubstr("'a.inja' includes itself"));
  // A template that is not included may be as broken as it likes.
  EXPECT_EQ(render({{"t.inja", "x"}, {"other.inja", "{{ "}}, "t.inja", "{}").value(), "x");
}

TEST(Template, IncludesOnlyWhatIsInTheSet) {
  EXPECT_EQ(
      render({{"t.inja", "{% include \"part.inja\" %}!\n"}, {"part.inja", "p\n"}}, "t.inja", "{}")
          .value(),
      "p\n!");
  for (const char* path : {"/etc/passwd", "../../etc/passwd", "nothing.inja"}) {
    EXPECT_THAT(error_of(std::string("{% include \"") + path + "\" %}"),
                HasSubstr("there is no template called"));
  }
}

TEST(Template, CommentsOfAConfAndVariablesOfAHostPassThrough) {
  EXPECT_EQ(render({{"t.inja", "## note\n# {x} #{y}\n$FDB_ZONE_ID ${X} $ID %i }}\n{{ name }}"}},
                   "t.inja", R"({"name":"n"})")
                .value(),
            "## note\n# {x} #{y}\n$FDB_ZONE_ID ${X} $ID %i }}\nn");
}

}  // namespace
}  // namespace fdbpack::conf
