// The page in a real browser with the network off. Where no Chromium is installed, these are skipped.
// DIKKAT_SCREENSHOTS=FOLDER also writes what was seen, and the pages.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <thread>

#include "chromium.h"
#include "dikkat/base/file.h"
#include "dikkat/base/parallel.h"
#include "dikkat/models/testing.h"
#include "pages.h"

namespace dikkat::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

class PageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "the browser is not built with a sanitizer; the plain build opens the pages";
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
    std::filesystem::copy_file(folder_ / "page.html", std::filesystem::path(folder) / (name + ".html"),
                               std::filesystem::copy_options::overwrite_existing);
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
  for (int n = 0; n < 3; ++n) browser().press("]");
  keep_screenshot("256-light");
  browser().set_view({.theme = "dark"});
  keep_screenshot("256-dark");
}

TEST_F(PageTest, ShowsFourThousandTokens) {
  open(planted_page(proverbs(), 4096, 4, 4));
  EXPECT_LT(file_bytes_, std::size_t{40} << 20U);
  for (int n = 0; n < 4; ++n) browser().press("]");
  RecordProperty("file_bytes", std::to_string(file_bytes_));
  keep_screenshot("4096-light");
  browser().set_view({.theme = "dark"});
  keep_screenshot("4096-dark");
}

TEST_F(PageTest, ShowsManyHeads) {
  open(planted_page(proverbs(), 96, 12, 12));
  keep_screenshot("144-heads-light");
  browser().set_view({.width = 420, .height = 900, .theme = "dark", .pixels = 2});
  keep_screenshot("144-heads-narrow");
}

TEST_F(PageTest, FitsTheWholeMapIntoEveryWindow) {
  for (const std::size_t tokens : {30U, 70U, 256U, 900U}) {
    open(planted_page({"a", "b", "c"}, tokens, 1, 1));
    for (const Chromium::View& view : {Chromium::View{}, Chromium::View{.width = 1100, .height = 700},
                                       Chromium::View{.width = 390, .height = 844, .pixels = 2}}) {
      browser().set_view(view);
      settle();
      settle();
      // Above the map each column names its token; from the right, the first is among the last.
      const double first = browser().number(
          "(async () => { const map = document.getElementById('map'); const box = map.getBoundingClientRect(); const "
          "name = "
          "() => document.getElementById('token-name').textContent; const point = async (x) => { map.dispatchEvent(new "
          "PointerEvent('pointermove', {bubbles: true, clientX: box.left + x, clientY: box.top + 5})); await new "
          "Promise(requestAnimationFrame); await new Promise(requestAnimationFrame); }; await point(60); const before "
          "= "
          "name(); for (let x = box.width - 1; x > 0 && name() === before; x -= 4) await point(x); return "
          "parseInt(name().slice(6)); })()");
      const std::size_t least = tokens - 1 - tokens / 60;  // steps of 4 pixels
      EXPECT_GE(first, static_cast<double>(least)) << view.width << " wide";
    }
  }
}

// p = e * (1 / Z): the forward pass rounds e, 1 / Z and the product; exp and Z's sum stray by a few units more.
constexpr double kRounding = 0x1p-21;

TEST_F(PageTest, WeightsAreThoseOfTheForwardPass) {
  for (const auto& [name, config] : models::testing::menu()) {
    const TappedPage page = tapped_page(config, config.context, executor_);
    open(page.data);
    const std::size_t tokens = config.context;
    double largest = 0;
    for (std::size_t l = 0; l < config.layers; ++l) {
      for (std::size_t h = 0; h < config.heads; ++h) {
        const std::string call = "dikkat.weights(" + std::to_string(l) + "," + std::to_string(h) + ",i)";
        const Json rows = browser().evaluate("Array.from({length:" + std::to_string(tokens) + "},(_,i)=>" + call + ")");
        ASSERT_EQ(rows.items().size(), tokens);
        for (std::size_t i = 0; i < tokens; ++i) {
          const auto [begin, end] = page.data.mask.visible(i, tokens);
          ASSERT_EQ(rows.items()[i].items().size(), tokens);
          for (std::size_t j = 0; j < tokens; ++j) {
            const double shown = JsonAt(rows.items()[i].items()[j], "page").real();
            if (j < begin || j >= end) {
              ASSERT_EQ(shown, -1) << name << " row " << i << " key " << j;
              continue;
            }
            const auto weight =
                static_cast<double>(page.patterns[l].data<float>()[(i * config.heads + h) * tokens + j]);
            ASSERT_NEAR(shown, weight, weight * kRounding + 1e-30) << name << " row " << i << " key " << j;
            largest = std::max(largest, std::abs(shown - weight));
          }
        }
      }
    }
    EXPECT_GT(largest, 0);
    const double said =
        browser().number("JSON.parse(document.getElementById('page-facts').textContent).largestDifference");
    if (tokens <= 128) {
      EXPECT_NEAR(largest, said, 1e-14) << name;  // the page's foot tells the truth
    } else {
      EXPECT_LE(said, largest + 1e-14) << name;
    }
  }
}

TEST_F(PageTest, SaysWhatTheMaskSlopesAndSharedKeysAre) {
  const auto text_of_page = [&](std::size_t model) {
    open(tapped_page(models::testing::menu()[model].config, 17, executor_).data);
    return browser().text(
        "document.getElementById('summary').textContent + ' | ' + document.getElementById('head-note').textContent");
  };
  EXPECT_THAT(text_of_page(0), HasSubstr("17 tokens · each token sees itself and those before | "));
  EXPECT_THAT(text_of_page(1), HasSubstr("those before, fewer than 5 away | keys shared by heads 0–1"));
  const std::string alibi = text_of_page(2);  // 6 heads: the first slope is 2^-2
  EXPECT_THAT(alibi, HasSubstr("each token sees all | distance costs 0.25 a token · one key head for all"));
}

TEST_F(PageTest, PointingTellsTheWeightAndClickingHolds) {
  const inspect::PageData data = planted_page({"a", "b", "c", "d", "e", "f", "g", "h"}, 8, 1, 2);
  open(data);
  settle();
  // The cell's place from the axes' own geometry is the page's business; find the cell of row 5, key 4 by its answer.
  const double x = browser().number("document.getElementById('map').getBoundingClientRect().left");
  const double y = browser().number("document.getElementById('map').getBoundingClientRect().top");
  const auto token_name = [&] { return browser().text("document.getElementById('token-name').textContent"); };
  browser().move_pointer(x + 30 + 4.5 * 44, y + 28 + 5.5 * 44);
  settle();
  EXPECT_EQ(token_name(), "Token 5 f");
  const double weight = browser().number("dikkat.weights(0, 0, 5)[4]");
  EXPECT_GT(weight, 0.5);
  const std::string tip = browser().text("document.getElementById('tip').textContent");
  EXPECT_THAT(tip, HasSubstr("f → e"));
  EXPECT_NEAR(std::stod(tip.substr(tip.find("0."))), weight, 5e-4);
  EXPECT_EQ(browser().text("document.querySelector('#looks .token').textContent"), "e");

  browser().click(x + 30 + 4.5 * 44, y + 28 + 5.5 * 44);
  browser().move_pointer(x + 30 + 0.5 * 44, y + 28 + 2.5 * 44);
  settle();
  EXPECT_EQ(token_name(), "Token 5 f");
  EXPECT_FALSE(browser().truth("document.getElementById('release').hidden"));
  browser().press("Escape");
  browser().move_pointer(x + 30 + 0.5 * 44, y + 28 + 2.6 * 44);
  settle();
  EXPECT_EQ(token_name(), "Token 2 c");
}

TEST_F(PageTest, KeysReachAndMoveEverything) {
  open(planted_page(proverbs(), 40, 2, 3));
  const auto text = [&](const std::string& id) {
    return browser().text("document.getElementById('" + id + "').textContent");
  };
  const auto focused = [&] {
    return browser().text("document.activeElement.id || document.activeElement.getAttribute('aria-label') || ''");
  };
  const auto tab_to = [&](const std::string& wanted) {
    for (int n = 0; n < 60; ++n) {
      browser().press("Tab");
      if (focused() != wanted) continue;
      EXPECT_TRUE(browser().truth("getComputedStyle(document.activeElement).outlineStyle !== 'none'")) << wanted;
      return true;
    }
    return false;
  };
  ASSERT_TRUE(tab_to("Layer 0, head 0"));
  browser().press("ArrowRight");
  browser().press("ArrowDown");
  EXPECT_EQ(text("head-name"), "Layer 1, head 1");
  EXPECT_EQ(focused(), "Layer 1, head 1");
  browser().press("]");
  browser().press("]");
  EXPECT_EQ(text("head-name"), "Layer 0, head 0");
  browser().press("[");
  EXPECT_EQ(text("head-name"), "Layer 1, head 2");

  ASSERT_TRUE(tab_to("map"));
  browser().press("Home");
  settle();
  EXPECT_THAT(text("token-name"), HasSubstr("Token 0 A"));
  browser().press("ArrowDown");
  browser().press("ArrowDown");
  browser().press("ArrowLeft");
  settle();
  EXPECT_THAT(text("token-name"), HasSubstr("Token 2 d"));
  browser().press("Enter");
  settle();
  EXPECT_FALSE(browser().truth("document.getElementById('release').hidden"));
  browser().press("Escape");
  settle();
  EXPECT_TRUE(browser().truth("document.getElementById('release').hidden"));

  ASSERT_TRUE(tab_to("strip"));
  browser().press("End");
  browser().press("ArrowLeft");
  settle();
  EXPECT_THAT(text("token-name"), HasSubstr("Token 38"));
  EXPECT_THAT(text("token-name"), HasSubstr("generated"));
  EXPECT_EQ(browser().text("document.getElementById('strip').getAttribute('aria-activedescendant')"), "token-38");

  browser().press("s");
  EXPECT_EQ(browser().text("document.querySelector('#scale :checked').value"), "log");
  browser().press("w");
  EXPECT_EQ(browser().text("document.querySelector('#side :checked').value"), "seen");
  const auto paper = [&] { return browser().text("getComputedStyle(document.body).backgroundColor"); };
  const std::string light = paper();
  browser().press("t");
  EXPECT_EQ(paper(), light);
  browser().press("t");
  EXPECT_NE(paper(), light);
  browser().press("?");
  EXPECT_TRUE(browser().truth("document.getElementById('help').open"));
}

TEST_F(PageTest, ShowsHostileTokensAsText) {
  const std::vector<std::string> hostile = {"<script>alert(1)</script>",
                                            "</script>",
                                            "\"'`&amp;",
                                            "\n",
                                            "\r\n\t",
                                            "\u202Eabc\u202C",
                                            "zero\u200Bwidth",
                                            "\u05E9\u05DC\u05D5\u05DD",
                                            "\u0645\u0631\u062D\u0628\u0627",
                                            std::string("nul\0", 4),
                                            "\xC4",
                                            std::string(5000, 'x'),
                                            "",
                                            "a\u0301\u0302\u0303\u0304\u0305\u0306",
                                            "\u0301",
                                            "\u2028",
                                            "<!--",
                                            "{script}"};
  inspect::PageData data = planted_page(hostile, hostile.size(), 2, 2);
  data.title = "<img src=x onerror=alert(1)>\u202E\u202C";
  data.facts.push_back({"<b>", "</script>\u200F"});
  open(data);
  keep_screenshot("hostile-light");
  const auto token = [&](std::size_t t) {
    return browser().text("document.getElementById('token-" + std::to_string(t) + "').textContent");
  };
  EXPECT_EQ(token(0), hostile[0]);
  EXPECT_EQ(token(1), hostile[1]);
  EXPECT_EQ(token(2), hostile[2]);
  EXPECT_EQ(token(3), "↵\n");
  EXPECT_EQ(token(4), "␍↵\n⇥");
  EXPECT_EQ(token(5), "U+202EabcU+202C");
  EXPECT_EQ(token(6), "zeroU+200Bwidth");
  EXPECT_EQ(token(7), hostile[7]);
  EXPECT_EQ(token(9), "nul␀");
  EXPECT_EQ(token(10), "C4");
  EXPECT_EQ(token(11), std::string(200, 'x') + "… 4,800 more");
  EXPECT_EQ(token(12), "empty");
  EXPECT_EQ(token(13), "a\u0301\u0302\u0303U+0304U+0305U+0306");
  EXPECT_EQ(token(14), "◌\u0301");
  EXPECT_EQ(token(15), "U+2028");
  EXPECT_EQ(token(17), "{script}");
  // Looking at every token puts all of them into every place that shows tokens.
  (void)browser().evaluate(
      "(async () => { for (const span of document.querySelectorAll('#strip > span')) { span.dispatchEvent(new "
      "PointerEvent('pointermove', {bubbles: true})); await new Promise(requestAnimationFrame); } })()");
  EXPECT_EQ(browser().number("document.querySelectorAll('img, iframe, object, b:not(.bar b):not(.mean b)').length"), 0);
  EXPECT_EQ(browser().number("document.querySelectorAll('script:not([type])').length"), 1);
  EXPECT_FALSE(
      browser().truth("/[\\u0000-\\u0008\\u200b-\\u200f\\u2028-\\u202e\\u2066-\\u2069]/.test(document.title + "
                      "document.getElementById('main').textContent + document.querySelector('header').textContent)"));
  EXPECT_THAT(browser().text("document.getElementById('title').textContent"),
              "<img src=x onerror=alert(1)>U+202EU+202C");
}

TEST_F(PageTest, OpensWithOneTokenAndWithWhatIsNoNumber) {
  open(planted_page({"x"}, 1, 1, 1));
  settle();
  EXPECT_EQ(browser().number("dikkat.weights(0, 0, 0)[0]"), 1);
  inspect::PageData data = planted_page({"x", "y"}, 6, 1, 1);
  data.layers[0].k.fill(std::nan(""));
  open(data);
  settle_tiles();
  EXPECT_THAT(browser().text("document.getElementById('head-facts').textContent"), HasSubstr("not a number"));
  EXPECT_THAT(browser().text("document.getElementById('precision').textContent"), HasSubstr("not a number"));
}

TEST_F(PageTest, SaysThatItWasCutShort) {
  const std::string page = inspect::html_page(planted_page({"x", "y"}, 64, 1, 1), executor_);
  std::ofstream(folder_ / "page.html", std::ios::binary) << page.substr(0, page.size() / 2);
  browser().open(folder_ / "page.html");
  EXPECT_TRUE(browser().truth("document.getElementById('main').hidden"));
  EXPECT_THAT(browser().text("document.getElementById('notice').textContent"), HasSubstr("cut short"));
  EXPECT_FALSE(browser().truth("document.getElementById('notice').hidden"));
}

TEST_F(PageTest, ShowsASeriesAsItsCourse) {
  std::vector<std::string> labels;
  std::vector<double> readings;
  for (std::size_t step = 0; step < 24; ++step) {
    const double hour = static_cast<double>(step);
    readings.push_back(std::sin(hour / 4) + 0.4 * std::cos(hour));
    labels.push_back(std::to_string(readings.back()).substr(0, 5));
  }
  inspect::PageData data = planted_page(labels, 24, 2, 4);
  for (inspect::PageToken& token : data.tokens) token.generated = false;
  data.mask.direction = kernels::Direction::bidirectional;
  data.readings = Tensor::of<double>({24, 1}, readings);
  open(data);
  for (int n = 0; n < 6; ++n) browser().press("]");
  keep_screenshot("series-light");
  browser().set_view({.theme = "dark"});
  keep_screenshot("series-dark");
  EXPECT_THAT(browser().text("document.getElementById('summary').textContent"),
              HasSubstr("24 steps · each step sees all"));
  EXPECT_EQ(browser().number("document.querySelectorAll('#strip polyline').length"), 1);
  EXPECT_EQ(browser().number("document.querySelector('#strip polyline').getAttribute('points').split(' ').length"), 24);
  const double x = browser().number("document.getElementById('token-20').getBoundingClientRect().left + 3");
  const double y = browser().number("document.getElementById('token-20').getBoundingClientRect().top + 30");
  browser().move_pointer(x, y);
  settle();
  EXPECT_EQ(browser().text("document.getElementById('token-name').textContent"), "Step 20 " + labels[20]);
}

// Milliseconds from a pointer event to the end of the frame that answers it; rows all over the map, then the text.
constexpr const char* kHover = R"((async () => {
  const map = document.getElementById('map');
  const box = map.getBoundingClientRect();
  const tokens = document.querySelectorAll('#strip > span');
  const times = [];
  const answered = () => new Promise((done) => requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = done;
    channel.port2.postMessage(0);
  }));
  const timed = async (element, at) => {
    const start = performance.now();
    element.dispatchEvent(new PointerEvent('pointermove', {bubbles: true, ...at}));
    await answered();
    times.push(performance.now() - start);
  };
  for (let n = 1; n <= 40; ++n) {
    const share = ((n * 17) % 41) / 41;
    await timed(map, {clientX: box.left + 60 + share * share * 500, clientY: box.top + 40 + share * 500});
    await timed(tokens[Math.floor(share * (tokens.length - 1))], {});
  }
  return times.sort((a, b) => a - b);
})())";

TEST_F(PageTest, HoveringAnswersWithinFiftyMilliseconds) {
  open(planted_page(proverbs(), 4096, 4, 4));
  EXPECT_LT(file_bytes_, std::size_t{40} << 20U);
  RecordProperty("file_bytes", std::to_string(file_bytes_));
  (void)browser().evaluate(kHover);  // while tiles are being computed: nothing may go wrong
  settle_tiles();
  double best = 1e9;
  double worked = 1e9;
  for (int round = 0; round < 4; ++round) {
    const double before = browser().worked_ms();
    const Json times = browser().evaluate(kHover);
    worked = std::min(worked, (browser().worked_ms() - before) / 80);
    ASSERT_EQ(times.items().size(), 80U);
    best = std::min(best, JsonAt(times.items()[40], "page").real());
  }
  RecordProperty("median_ms", std::to_string(best));
  RecordProperty("worked_ms", std::to_string(worked));
  EXPECT_GT(worked, 0.05);
  EXPECT_LT(worked, 50);
  // Time on the wall is the page's own only where it does not wait for a processor.
  std::array<double, 1> load{};
  const bool waits = getloadavg(load.data(), 1) != 1 || load[0] >= std::thread::hardware_concurrency();
  if (!waits) {
    EXPECT_LT(best, 50);
  }
}

}  // namespace
}  // namespace dikkat::testing
