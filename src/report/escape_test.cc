// Hostile texts stay texts.
#include "report/escape.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/random.h"
#include "report/table.h"

namespace simpred {
namespace {

TEST(Escape, Html) {
  EXPECT_EQ(HtmlEscaped("<script>alert('\"&')</script>"), "&lt;script&gt;alert(&#39;&quot;&amp;&#39;)&lt;/script&gt;");
  EXPECT_EQ(HtmlEscaped(std::string_view("a\0b", 3)), "a\uFFFDb");
  EXPECT_EQ(HtmlEscaped("卷积"), "卷积");
}

TEST(Escape, JsonReadsBack) {
  Random random(1);
  for (int trial = 0; trial < 500; ++trial) {
    std::string text;
    for (int i = 0; i < 20; ++i) text += static_cast<char>(random.Int(0, 255));
    const auto parsed = nlohmann::json::parse(JsonString(text), nullptr, false);
    ASSERT_TRUE(parsed.is_string()) << JsonString(text);
    EXPECT_EQ(parsed.get<std::string>(), ValidUtf8(text));
  }
}

TEST(Escape, Utf8) {
  EXPECT_EQ(ValidUtf8("ok é 卷 😀"), "ok é 卷 😀");
  EXPECT_EQ(ValidUtf8("\xC0\xAF"), "\uFFFD\uFFFD");            // overlong
  EXPECT_EQ(ValidUtf8("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");  // surrogate
  EXPECT_EQ(ValidUtf8("\xF5"), "\uFFFD");
  EXPECT_EQ(ValidUtf8("\xE5\x8D"), "\uFFFD\uFFFD");  // cut off
}

TEST(Escape, Csv) {
  EXPECT_EQ(CsvField("plain"), "plain");
  EXPECT_EQ(CsvField("a,b"), "\"a,b\"");
  EXPECT_EQ(CsvField("say \"x\"\n"), "\"say \"\"x\"\"\n\"");
  EXPECT_EQ(CsvField("=1+1"), "'=1+1");
  EXPECT_EQ(CsvField("@x,y"), "\"'@x,y\"");
}

TEST(Escape, Terminal) {
  EXPECT_EQ(TerminalSafe("\033[31mred\r\n"), "?[31mred??");
  EXPECT_EQ(TerminalSafe("a\u202Eb\u200B"), "a?b?");
}

TEST(Escape, Width) {
  EXPECT_EQ(DisplayWidth("conv1"), 5U);
  EXPECT_EQ(DisplayWidth("卷积"), 4U);
  EXPECT_EQ(Shortened("block1/conv2", 6), "…conv2");
  EXPECT_EQ(Shortened("short", 6), "short");
  EXPECT_LE(DisplayWidth(Shortened("卷积卷积卷积", 6)), 6U);
}

TEST(Table, AlignsAndNeverEndsInBlanks) {
  Table t({{"name"}, {"time", Table::Align::kRight}, {"note"}});
  t.Row({"卷积", "1 us", ""});
  t.Row({"a", "100 us", "x\033[2J"});
  EXPECT_EQ(t.ToString(0),
            "name    time  note\n"
            "卷积    1 us\n"
            "a     100 us  x?[2J\n");
}

}  // namespace
}  // namespace simpred
