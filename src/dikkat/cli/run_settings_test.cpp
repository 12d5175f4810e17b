#include "dikkat/cli/run_settings.h"

#include <gmock/gmock.h>

#include <fstream>

#include "dikkat/base/testing.h"
#include "dikkat/cli/commands.h"

namespace dikkat::cli {
namespace {

using ::testing::HasSubstr;

class RunSettingsTest : public ::testing::Test {
 protected:
  RunSettings settings(std::vector<std::string> words, const std::optional<SettingsBase>& run = std::nullopt) {
    words.insert(words.begin(), "text.txt");
    return run_settings(Arguments(command_named("train"), words), run);
  }
  std::string file(const std::string& content) {
    std::ofstream(folder_ / "mine.toml") << content;
    return (folder_ / "mine.toml").string();
  }
  std::string refusal(std::vector<std::string> words) {
    const Error error = testing::error_of([&] { static_cast<void>(settings(std::move(words))); });
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }

  testing::TemporaryFolder folder_;
};

TEST_F(RunSettingsTest, DefaultsAreThePresetShakespeareCpu) {
  const RunSettings s = settings({});
  EXPECT_EQ(s.preset, "shakespeare-cpu");
  EXPECT_EQ(s.spec.model.width, 128U);
  EXPECT_EQ(s.spec.settings.steps, 2000U);
  EXPECT_EQ(s.origin.at("width"), "preset shakespeare-cpu");
  EXPECT_EQ(s.origin.at("keep"), "default");
}

TEST_F(RunSettingsTest, OptionsWinOverTheFileAndTheFileOverThePreset) {
  const std::string path = file("preset = \"kucuk\"\nsteps = 30\nbatch = 5\n");
  const RunSettings s = settings({"--config", path, "--steps", "40"});
  EXPECT_EQ(s.spec.model.width, 32U) << "the file's preset";
  EXPECT_EQ(s.spec.settings.batch, 5U);
  EXPECT_EQ(s.spec.settings.steps, 40U);
  EXPECT_EQ(s.origin.at("batch"), path + ": line 3, column 1");
  EXPECT_EQ(s.origin.at("steps"), "--steps");
  EXPECT_EQ(settings({"--config", path, "--preset", "shakespeare"}).spec.model.width, 384U);
}

TEST_F(RunSettingsTest, EverySettingIsAnOptionAndAKey) {
  std::string toml;
  std::vector<std::string> words;
  train::RunSpec spec{train::preset_named("kucuk").model, train::preset_named("kucuk").settings, {}};
  for_each_setting(spec, [&](const char*, const char* name, auto& value, const char*) {
    words.push_back(std::string("--") + name);
    words.emplace_back(text_of(value));
  });
  const RunSettings s = settings(words);
  EXPECT_EQ(s.spec.model, spec.model);
  EXPECT_EQ(s.spec.settings, spec.settings);
}

TEST_F(RunSettingsTest, AnUnknownKeyIsRefusedWithPlaceAndNearestName) {
  const std::string line = refusal({"--config", file("steps = 3\n  wdith = 4\n")});
  EXPECT_THAT(line, HasSubstr("mine.toml: line 2, column 3"));
  EXPECT_THAT(line, HasSubstr("did you mean width?"));
  EXPECT_THAT(refusal({"--config", file("vocabulary = 4\n")}), HasSubstr("vocabulary")) << "it comes from the text";
}

TEST_F(RunSettingsTest, AKeysTypeIsThatOfItsSetting) {
  for (const char* line :
       {"steps = 30.0", "steps = \"30\"", "steps = -1", "steps = true", "norm-bias = 1", "norm = \"rmss\"", "norm = 3",
        "beta1 = nan", "beta1 = inf", "beta1 = \"0.9\"", "preset = 3"}) {
    EXPECT_THAT(refusal({"--config", file(line)}), HasSubstr("line 1, column 1")) << line;
  }
  EXPECT_EQ(settings({"--config", file("clip = 2")}).spec.settings.clip, 2.0) << "a whole number is a real one";
}

TEST_F(RunSettingsTest, AnUnknownPresetIsRefusedWithTheNearestName) {
  EXPECT_THAT(refusal({"--preset", "kucukk"}), HasSubstr("did you mean kucuk?"));
}

TEST_F(RunSettingsTest, SettingsThatDoNotGoTogetherAreRefused) {
  EXPECT_THAT(refusal({"--width", "130"}), HasSubstr("128 or 132"));
  EXPECT_THAT(refusal({"--warmup", "30", "--steps", "20"}), HasSubstr("warmup"));
  EXPECT_THAT(refusal({"--batch", "0"}), HasSubstr("batch"));
  EXPECT_THAT(refusal({"--sample-every", "5", "--direction", "bidirectional"}), HasSubstr("--direction causal"));
  EXPECT_THAT(refusal({"--patience", "5", "--eval-every", "0"}), HasSubstr("--eval-every a number above 0"));
}

TEST_F(RunSettingsTest, APresetsWarmupIsCutToHalfOfAShortRun) {
  EXPECT_EQ(settings({"--steps", "20"}).spec.settings.warmup, 10U);
  EXPECT_THAT(settings({"--steps", "20"}).origin.at("warmup"), HasSubstr("cut to half"));
  EXPECT_EQ(settings({"--steps", "400"}).spec.settings.warmup, 100U);
  EXPECT_EQ(settings({"--steps", "20", "--warmup", "20"}).spec.settings.warmup, 20U) << "chosen is chosen";
}

TEST_F(RunSettingsTest, AResumedRunStartsFromItsOwnSettings) {
  train::RunSpec recorded{train::preset_named("kucuk").model, train::preset_named("kucuk").settings, {}};
  recorded.model.vocabulary = 30;
  recorded.conduct.keep = 5;
  const SettingsBase run{recorded, "run r"};
  EXPECT_EQ(settings({}, run).spec.model, recorded.model);
  EXPECT_EQ(settings({"--eval-every", "7"}, run).spec.conduct.eval_every, 7U);
  EXPECT_EQ(settings({"--eval-every", "7"}, run).spec.conduct.keep, 5U);
  EXPECT_EQ(settings({}, run).origin.at("width"), "run r");
  const RunSettings again = settings({"--preset", "kucuk"}, run);
  EXPECT_EQ(again.spec.model, recorded.model) << "the command it was started with, repeated";
  EXPECT_EQ(settings({"--preset", "shakespeare"}, run).spec.model.width, 384U);
}

}  // namespace
}  // namespace dikkat::cli
