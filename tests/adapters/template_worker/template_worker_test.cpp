// SPDX-License-Identifier: Apache-2.0
//
// Templates that bring the engine down must not bring us down.
#include "adapters/template_worker/template_worker.hpp"

#include "tests/support/places.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fdbpack::adapters {
namespace {

using testing::HasSubstr;

// The worker is a command of the real program.
const std::string kProgram = test::program_file("fdbpack");

Result<std::string> render(const std::string& text,
                           const std::string& values = R"({"name":"n","list":[]})") {
  return TemplateWorker(kProgram).render({{"t.inja", text}}, "t.inja", values);
}

TEST(TemplateWorker, RendersAGoodTemplate) {
  EXPECT_EQ(render("hello {{ name }}\n").value(), "hello n");
  EXPECT_EQ(render("{{ name }}", R"({"name":"h\u00e9"})").value(), "h\xC3\xA9");
}

TEST(TemplateWorker, PassesOnTheEnginesError) {
  EXPECT_EQ(render("\n{{ nope }}").error().message, "t.inja:2:4: variable 'nope' not found");
}

TEST(TemplateWorker, SurvivesTemplatesThatCrashTheEngine) {
  for (const char* text :
       {"{{ | a }}", "{{ upper(|b) }}", "{{ 1 % 0 }}", "{{ last(list) }}",
        "{% include \"t.inja\" %}", "{% for x in range(999999999) %}{{ x }}{% endfor %}"}) {
    const auto result = render(text);
    ASSERT_FALSE(result.has_value()) << text;
    EXPECT_THAT(result.error().message, HasSubstr("t.inja")) << text;
  }
  EXPECT_EQ(render("still {{ name }}").value(), "still n");
}

TEST(TemplateWorker, BoundsTheText) {
  const std::string big(1 << 20, 'x');
  std::string values = R"({"name":")" + big + "\"}";
  std::string text;
  for (int i = 0; i < 40; ++i)
    text += "{{ name }}";
  EXPECT_THAT(render(text, values).error().message, HasSubstr("t.inja"));
}

TEST(TemplateWorker, EndsATemplateThatTakesTooLong) {
  const std::string loop =
      "{% for a in range(3000) %}{% for b in range(3000) %}{% endfor %}{% endfor %}";
  TemplateWorker impatient(kProgram, std::chrono::milliseconds(50));
  EXPECT_THAT(impatient.render({{"t.inja", loop}}, "t.inja", "{}").error().message,
              HasSubstr("too long"));
}

TEST(TemplateWorker, SaysWhenItCannotBeStarted) {
  TemplateWorker broken("/nonexistent/program");
  const Error error = broken.render({{"t.inja", ""}}, "t.inja", "{}").error();
  EXPECT_EQ(error.code, ErrorCode::unavailable);
  EXPECT_EQ(error.message,
            "t.inja: the template worker cannot be used: /nonexistent/program: No such file or "
            "directory");
  TemplateWorker silent("/bin/true");
  EXPECT_THAT(silent.render({{"t.inja", ""}}, "t.inja", "{}").error().message,
              HasSubstr("without an answer"));
}

}  // namespace
}  // namespace fdbpack::adapters
