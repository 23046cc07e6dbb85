#include "tools/completion.h"

#include <gtest/gtest.h>

#include "tools/command_tree.h"
#include "tools/man_page.h"

namespace hawthorn::tools {
namespace {

class CommandLineTexts : public ::testing::Test {
 protected:
  CommandLineTexts() : app_("Does things.", "prog") {
    CLI::App& put = *app_.add_subcommand("put", "Write [one]: it's quick");
    put.add_option("dir", text_, "The directory")->required()->type_name("DIR");
    put.add_option("key", text_, "The key")->type_name("KEY");
    put.add_option("-f,--file", text_, "From a file")->type_name("FILE");
    put.add_option("--level", text_, "How sure")->type_name("LEVEL");
    put.add_flag("--fast", flag_, "Be quick\n.SH not a request");
    CLI::App& del = *app_.add_subcommand("del", "Delete");
    del.add_option("keys", many_, "Keys")->required()->type_name("KEY");
  }
  static void expect_in(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  }
  CLI::App app_;
  std::string text_;
  std::vector<std::string> many_;
  bool flag_ = false;
};

TEST_F(CommandLineTexts, ShapesAreThoseOfTheCommandLine) {
  const std::vector<CommandShape> commands = commands_of(app_);
  ASSERT_EQ(commands.size(), 2u);
  EXPECT_EQ(synopsis_of("prog", commands[0]), "prog put DIR [KEY] [options]");
  EXPECT_EQ(synopsis_of("prog", commands[1]), "prog del KEY... [options]");
  ASSERT_EQ(commands[0].options.size(), 4u);  // --help, too
  EXPECT_EQ(commands[0].options[1].names, (std::vector<std::string>{"-f", "--file"}));
  EXPECT_TRUE(commands[0].options[1].takes_file());
  EXPECT_EQ(commands[0].options[2].choices, (std::vector<std::string>{"none", "async", "full"}));
  EXPECT_FALSE(commands[0].options[3].takes_value());
}

TEST_F(CommandLineTexts, ScriptsQuoteWhatShellsGiveAMeaning) {
  expect_in(completion_script(app_, Shell::kZsh), "'put:Write \\[one\\]\\: it'\\''s quick'");
  expect_in(completion_script(app_, Shell::kZsh), "'--level=[How sure]:LEVEL:(none async full)'");
  expect_in(completion_script(app_, Shell::kFish), "-a put -d 'Write [one]: it\\'s quick'");
  expect_in(completion_script(app_, Shell::kFish),
            "-n '__fish_seen_subcommand_from put' -s f -l file -r -F -d 'From a file'");
  expect_in(completion_script(app_, Shell::kBash), "-f|--file) compgen -f -- \"$current\"");
}

TEST_F(CommandLineTexts, ManPagesHoldEverythingAndNoRequestOfTheTexts) {
  const std::string page = man_page(app_, "", "1.2");
  expect_in(page, ".TH PROG 1 \"\" \"prog 1.2\"\n");
  expect_in(page, ".SS put\n.B prog put DIR [KEY] [options]\n");
  expect_in(page, "\\fB\\-f\\fR, \\fB\\-\\-file\\fR \\fIFILE\\fR\nFrom a file\n");
  expect_in(page, "How sure (none, async, full)\n");
  expect_in(page, "Be quick\n\\&.SH not a request\n");
  EXPECT_EQ(page.find("\n.SH not"), std::string::npos);
  expect_in(man_page(app_, "del", "1.2"), "prog\\-del \\- Delete\n");
  EXPECT_EQ(man_page(app_, "nothing", "1.2"), "");
}

}  // namespace
}  // namespace hawthorn::tools
