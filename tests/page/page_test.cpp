// The page in a real browser with the network off. Where no Chromium is installed, these are skipped.
// DIKKAT_SCREENSHOTS=FOLDER also writes what was seen.
#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <memory>

#include "chromium.h"
#include "dikkat/base/file.h"
#include "dikkat/base/parallel.h"
#include "dikkat/models/testing.h"
#include "pages.h"

namespace dikkat::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

class PageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto program = chromium_program();
    if (!program) GTEST_SKIP() << "no Chromium on this machine";
    browser_ = std::make_unique<Chromium>(*program);
  }
  void TearDown() override {
    if (browser_ == nullptr) return;
    EXPECT_THAT(browser_->troubles(), IsEmpty());
    EXPECT_THAT(browser_->requests(), IsEmpty());
  }

  void open(const inspect::PageData& data, const Chromium::View& view = {}) {
    const std::string page = inspect::html_page(data, executor_);
    file_bytes_ = page.size();
    std::ofstream(folder_ / "page.html", std::ios::binary) << page;
    browser_->set_view(view);
    browser_->open(folder_ / "page.html");
  }
  Chromium& browser() { return *browser_; }
  // Two frames: whatever was asked for has been drawn.
  void settle() {
    (void)browser_->evaluate(
        "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))");
  }
  void settle_tiles() {
    (void)browser_->evaluate(
        "new Promise((done) => { const look = () => document.getElementById('map').dataset.computing === '0' ? done(1) "
        ": "
        "setTimeout(look, 10); setTimeout(look, 50); })");
  }
  void keep_screenshot(const std::string& name) {
    const char* folder = std::getenv("DIKKAT_SCREENSHOTS");
    if (folder == nullptr) return;
    settle_tiles();
    settle();
    browser_->screenshot(std::filesystem::path(folder) / (name + ".png"));
  }
  static std::vector<std::string> proverbs() {
    return letters_of(read_small_file(DIKKAT_SOURCE_DIR "/data/atasozleri.txt", std::size_t{1} << 20U));
  }

  Pool pool_{2};
  kernels::Executor executor_{pool_};
  TemporaryFolder folder_;
  std::unique_ptr<Chromium> browser_;
  std::size_t file_bytes_ = 0;
};

TEST_F(PageTest, ShowsSixteenTokens) {
  open(planted_page({"The", " cat", " sat", " on", " the", " mat", ",", " and", " the", " dog", " sat", " on", " the",
                     " rug", ".", "\n"},
                    16, 2, 4));
  keep_screenshot("16-light");
  browser().set_view({.theme = "dark"});
  keep_screenshot("16-dark");
}

TEST_F(PageTest, ShowsTwoHundredAndFiftySixTokens) {
  open(planted_page(proverbs(), 256, 4, 4));
  keep_screenshot("256-light");
  browser().set_view({.theme = "dark"});
  keep_screenshot("256-dark");
}

TEST_F(PageTest, ShowsFourThousandTokens) {
  if (kSanitized) GTEST_SKIP() << "too slow with a sanitizer";
  open(planted_page(proverbs(), 4096, 4, 4));
  EXPECT_LT(file_bytes_, std::size_t{40} << 20U);
  RecordProperty("file_bytes", std::to_string(file_bytes_));
  keep_screenshot("4096-light");
  browser().set_view({.theme = "dark"});
  keep_screenshot("4096-dark");
}

}  // namespace
}  // namespace dikkat::testing
