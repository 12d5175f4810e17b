#include "dikkat/cli/arguments.h"

#include <gmock/gmock.h>

#include "dikkat/base/testing.h"
#include "dikkat/cli/commands.h"

namespace dikkat::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Command& table() {
  static const Command command{
      .name = "cook",
      .summary = "",
      .description = "",
      .operands = {{.name = "FIRST", .help = "what comes first"},
                   {.name = "MORE", .help = "what follows", .least = 0, .most = 2}},
      .groups = {{"Options",
                  {{.name = "steps", .value = "N"},
                   {.name = "learning-rate", .value = "X"},
                   {.name = "stop", .value = "TEXT", .repeats = true},
                   {.name = "kind", .value = "KIND", .fallback = "plain", .choices = {"plain", "fancy"}},
                   {.name = "json"},
                   {.name = "help"}}}},
      .examples = {},
      .run = nullptr};
  return command;
}

Arguments parsed(const std::vector<std::string>& words) { return {table(), words}; }
std::string refusal(const std::vector<std::string>& words) {
  const Error error = testing::error_of([&] { static_cast<void>(parsed(words)); });
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  return error.what();
}

TEST(Arguments, SortsOptionsAndOperandsInAnyOrder) {
  const Arguments a = parsed({"--steps", "3", "one", "--kind=fancy", "--json", "two"});
  EXPECT_THAT(a.operands(), ElementsAre("one", "two"));
  EXPECT_EQ(a.value<std::size_t>("steps", 0), 3U);
  EXPECT_EQ(a.choice("kind"), "fancy");
  EXPECT_TRUE(a.json());
  EXPECT_FALSE(a.has("stop"));
}

TEST(Arguments, WhatWasNotGivenHasItsDefault) {
  const Arguments a = parsed({"one"});
  EXPECT_EQ(a.value("learning-rate", 0.5), 0.5);
  EXPECT_EQ(a.positive("steps", 7), 7U);
  EXPECT_EQ(a.choice("kind"), "plain");
}

TEST(Arguments, EverythingAfterTwoDashesIsAnOperandAndSoIsALoneDash) {
  EXPECT_THAT(parsed({"-", "--", "--steps", "-x"}).operands(), ElementsAre("-", "--steps", "-x"));
}

TEST(Arguments, AValueMayLookLikeAnythingButAnOption) {
  EXPECT_EQ(parsed({"one", "--stop", "-1"}).text("stop"), "-1");
  EXPECT_EQ(parsed({"one", "--stop", "--unheard-of"}).text("stop"), "--unheard-of");
  EXPECT_EQ(parsed({"one", "--stop", ""}).text("stop"), "");
  EXPECT_EQ(parsed({"one", "--stop=--json"}).text("stop"), "--json");
  EXPECT_EQ(parsed({"one", "--stop=a=b"}).text("stop"), "a=b");
  EXPECT_THAT(refusal({"one", "--stop", "--json"}), HasSubstr("--stop needs a value"));
  EXPECT_THAT(refusal({"one", "--stop", "--steps=3"}), HasSubstr("--stop needs a value"));
  EXPECT_THAT(refusal({"one", "--stop"}), HasSubstr("--stop needs a value"));
}

TEST(Arguments, OnlyWhatRepeatsMayBeGivenTwice) {
  EXPECT_THAT(parsed({"one", "--stop", "a", "--stop=b"}).texts("stop"), ElementsAre("a", "b"));
  EXPECT_THAT(refusal({"one", "--steps", "3", "--steps=3"}), HasSubstr("--steps is given twice"));
  EXPECT_THAT(refusal({"one", "--json", "--json"}), HasSubstr("--json is given twice"));
}

TEST(Arguments, ASlipIsAnsweredWithTheNearestName) {
  EXPECT_THAT(refusal({"one", "--stpes", "3"}), HasSubstr("did you mean --steps?"));
  EXPECT_THAT(refusal({"one", "--lr", "3"}), HasSubstr("did you mean --learning-rate?"));
  EXPECT_THAT(refusal({"one", "-steps", "3"}), HasSubstr("did you mean --steps?"));
  EXPECT_THAT(refusal({"one", "--learning_rate=3"}), HasSubstr("did you mean --learning-rate?"));
}

TEST(Arguments, ASwitchTakesNoValue) {
  EXPECT_THAT(refusal({"one", "--json=true"}), HasSubstr("--json takes no value"));
}

TEST(Arguments, OperandsAreCounted) {
  EXPECT_THAT(refusal({}), HasSubstr("needs FIRST: what comes first"));
  EXPECT_THAT(refusal({"1", "2", "3", "4"}), HasSubstr("takes no further '4'"));
  EXPECT_THAT(refusal({""}), HasSubstr("an empty word is no FIRST"));
  EXPECT_THAT(refusal({"1", "2", ""}), HasSubstr("an empty word is no MORE"));
  EXPECT_TRUE(parsed({"--help"}).has("help"));
  EXPECT_TRUE(parsed({"-h"}).has("help"));
}

TEST(Arguments, NumbersAreReadExactly) {
  for (const char* word : {"-1", "010", "1.0", "+1", "1e3", "0x10", "", " 1", "nan"}) {
    const Arguments a = parsed({"one", std::string("--steps=") + word});
    const Error error = testing::error_of([&] { static_cast<void>(a.value<std::size_t>("steps", 0)); });
    EXPECT_EQ(error.kind(), ErrorKind::usage) << word;
    EXPECT_THAT(error.what(), HasSubstr("--steps takes a whole number")) << word;
  }
  for (const char* word : {"nan", "inf", "-inf", "1e999", "", "1,5", "0x1p3", "+1"}) {
    const Arguments a = parsed({"one", std::string("--learning-rate=") + word});
    EXPECT_EQ(testing::error_of([&] { static_cast<void>(a.value("learning-rate", 0.0)); }).kind(), ErrorKind::usage)
        << word;
  }
  const Arguments huge = parsed({"one", "--steps=18446744073709551616"});
  EXPECT_THAT(testing::error_of([&] { static_cast<void>(huge.value<std::size_t>("steps", 0)); }).what(),
              HasSubstr("--steps: 18446744073709551616 is larger than 18446744073709551615"));
  EXPECT_EQ(parsed({"one", "--learning-rate=-2.5e-3"}).value("learning-rate", 0.0), -2.5e-3);
  EXPECT_EQ(parsed({"one", "--steps=18446744073709551615"}).value<std::uint64_t>("steps", 0), ~std::uint64_t{0});
}

TEST(Arguments, ZeroIsRefusedWhereItMakesNoSense) {
  const Arguments a = parsed({"one", "--steps", "0"});
  EXPECT_THAT(testing::error_of([&] { static_cast<void>(a.positive("steps", 1)); }).what(), HasSubstr(">= 1"));
}

TEST(Arguments, AChoiceIsOneOfItsWords) {
  const Arguments a = parsed({"one", "--kind", "fanzy"});
  const std::string line = testing::error_of([&] { static_cast<void>(a.choice("kind")); }).what();
  EXPECT_THAT(line, HasSubstr("one of plain, fancy, not 'fanzy'"));
  EXPECT_THAT(line, HasSubstr("did you mean fancy?"));
}

TEST(Arguments, WhatIsEchoedIsShortAndEscaped) {
  const std::string line = refusal({"one", "--\x1b[31m\xff" + std::string(1000, 'a')});
  EXPECT_THAT(line, ::testing::Not(HasSubstr("\x1b")));
  EXPECT_THAT(line, ::testing::Not(HasSubstr("\xff")));
  EXPECT_LT(line.size(), 300U);
}

TEST(Commands, HaveNamesAndOptionsThatDoNotCollide) {
  for (const Command& command : commands()) {
    EXPECT_EQ(&command_named(command.name), &command);
    EXPECT_FALSE(command.summary.empty());
    std::map<std::string, int> seen;
    for (const OptionGroup& group : command.groups) {
      for (const Option& option : group.options)
        EXPECT_EQ(++seen[option.name], 1) << command.name << " --" << option.name;
    }
    for (const char* name : {"json", "threads", "kernels", "help"}) EXPECT_EQ(seen[name], 1) << command.name;
  }
}

TEST(Commands, AnUnknownOneIsAnsweredWithTheNearest) {
  EXPECT_THAT(testing::error_of([] { static_cast<void>(command_named("trian")); }).what(),
              HasSubstr("did you mean dikkat train?"));
}

}  // namespace
}  // namespace dikkat::cli
