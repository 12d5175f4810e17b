// A small house of two floors in a temporary folder; each test breaks it in one way.
#include "layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>

namespace layers {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Layers : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() /
            ("layers_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) + "_" +
             std::to_string(::getpid()));
    write("layers.toml", kRules);
    write("src/dikkat/base/CMakeLists.txt", "dikkat_folder(base PUBLIC Threads::Threads)\n");
    write("src/dikkat/upper/CMakeLists.txt",
          "dikkat_folder(upper SEES base\n              PRIVATE library::library)\n");
    write("src/dikkat/base/error.h", "#pragma once\n#include <string>\n");
    write("src/dikkat/upper/model.cpp", "#include \"dikkat/base/error.h\"\n#include <fmt/format.h>\n");
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  [[nodiscard]] std::vector<Violation> check() const { return layers::check(root_); }

  static constexpr const char* kRules = R"(
floors = [["base"], ["upper"]]
[sees]
base = []
upper = ["base"]
[kinds]
body = ["-inl.h"]
test = ["_test.cpp", "/testing.h"]
[[outside]]
headers = ["fmt/"]
in = ["source", "test"]
[[outside]]
headers = ["hwy/"]
folders = ["base"]
in = ["body"]
[[outside]]
headers = ["regex"]
folders = []
in = []
)";
  fs::path root_;
};

TEST_F(Layers, AHouseInOrderHolds) { EXPECT_THAT(check(), IsEmpty()); }

TEST_F(Layers, AnIncludeUpwardsIsNamedWithItsLine) {
  write("src/dikkat/base/error.cpp", "// first\n#include <vector>\n  #  include \"dikkat/upper/model.h\"\n");
  EXPECT_THAT(check(), ElementsAre(Violation{"src/dikkat/base/error.cpp:3",
                                             "`base` may not see `upper` (dikkat/upper/model.h)"}));
}

TEST_F(Layers, AnIncludeInBracketsCountsToo) {
  write("src/dikkat/base/error.cpp", "#include <dikkat/upper/model.h>\n");
  EXPECT_EQ(check().size(), 1U);
}

TEST_F(Layers, ABodyNamedInAMacroCountsToo) {
  write("src/dikkat/base/error.cpp", "#define TARGET \"dikkat/upper/model-inl.h\"\n");
  EXPECT_EQ(check().size(), 1U);
}

TEST_F(Layers, AnIncludeInACommentIsNone) {
  write("src/dikkat/base/error.cpp", "// #include \"dikkat/upper/model.h\"\n");
  EXPECT_THAT(check(), IsEmpty());
}

TEST_F(Layers, AFolderMayNotSeeItsOwnFloor) {
  std::string rules = kRules;
  rules.replace(rules.find("[\"upper\"]]"), 10, "[\"upper\", \"other\"]]");
  rules.replace(rules.find("[kinds]"), 7, "other = [\"upper\"]\n[kinds]");
  write("layers.toml", rules);
  write("src/dikkat/other/CMakeLists.txt", "dikkat_folder(other SEES upper)\n");
  EXPECT_THAT(check(), ElementsAre(Violation{"layers.toml", "`other` sees `upper`, which stands on no lower floor"}));
}

TEST_F(Layers, LinksThatDifferAreNamed) {
  write("src/dikkat/upper/CMakeLists.txt", "dikkat_folder(upper PRIVATE base)\n");
  EXPECT_THAT(check(),
              ElementsAre(Violation{"src/dikkat/upper/CMakeLists.txt", "SEES nothing, but layers.toml has base"}));
}

TEST_F(Layers, AFolderOnNoFloorIsNamed) {
  write("src/dikkat/cellar/wine.cpp", "#include <string>\n");
  EXPECT_THAT(check(), ElementsAre(Violation{"src/dikkat/cellar/wine.cpp", "its folder is not in layers.toml"}));
}

TEST_F(Layers, AFolderThatIsNotThereIsNamed) {
  fs::remove_all(root_ / "src/dikkat/upper");
  EXPECT_THAT(check(), ElementsAre(Violation{"layers.toml", "`upper` has no src/dikkat/upper/CMakeLists.txt"}));
}

TEST_F(Layers, APublicHeaderIncludesNothingFromOutside) {
  write("src/dikkat/upper/model.h", "#include <fmt/format.h>\n");
  EXPECT_THAT(check(), ElementsAre(Violation{"src/dikkat/upper/model.h:1",
                                             "`upper` may not include fmt/format.h in a public header"}));
}

TEST_F(Layers, AnOutsideHeaderStaysWithItsFolderAndKind) {
  write("src/dikkat/base/fast-inl.h", "#include \"hwy/highway.h\"\n");
  EXPECT_THAT(check(), IsEmpty());
  write("src/dikkat/base/fast.cpp", "#include \"hwy/highway.h\"\n");
  write("src/dikkat/upper/fast-inl.h", "#include \"hwy/highway.h\"\n");
  EXPECT_EQ(check().size(), 2U);
}

TEST_F(Layers, AHeaderNamedNowhereIsRefused) {
  write("src/dikkat/base/error.cpp", "#include <zlib.h>\n");
  EXPECT_THAT(check(),
              ElementsAre(Violation{"src/dikkat/base/error.cpp:1",
                                    "zlib.h is neither a header of the C++ standard nor named in layers.toml"}));
}

TEST_F(Layers, AStandardHeaderCanBeForbidden) {
  write("src/dikkat/base/error.cpp", "#include <regex>\n");
  EXPECT_EQ(check().size(), 1U);
}

TEST_F(Layers, BodiesStayInTheirFolderAndOutOfHeaders) {
  write("src/dikkat/base/fast-inl.h", "\n");
  write("src/dikkat/upper/model.cpp", "#include \"dikkat/base/fast-inl.h\"\n");
  write("src/dikkat/base/fast.h", "#include \"dikkat/base/fast-inl.h\"\n");
  EXPECT_EQ(check().size(), 2U);
}

TEST_F(Layers, TestHelpersStayInTests) {
  write("src/dikkat/base/testing.h", "\n");
  write("src/dikkat/base/error_test.cpp", "#include \"dikkat/base/testing.h\"\n");
  EXPECT_THAT(check(), IsEmpty());
  write("src/dikkat/base/error.cpp", "#include \"dikkat/base/testing.h\"\n");
  EXPECT_EQ(check().size(), 1U);
}

TEST_F(Layers, AMisspeltRuleIsRefused) {
  write("layers.toml", std::string(kRules) + "[[outside]]\nheader = [\"x/\"]\nin = []\n");
  EXPECT_THROW(static_cast<void>(check()), std::runtime_error);
  write("layers.toml", std::string("exceptions = [\"base\"]\n") + kRules);
  EXPECT_THROW(static_cast<void>(check()), std::runtime_error);
}

}  // namespace
}  // namespace layers
