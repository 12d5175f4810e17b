// A headless Chromium that opens one page with no network at all, driven by the DevTools protocol over two pipes
// (--remote-debugging-pipe: commands on descriptor 3, answers and events on 4, each ended by a zero byte).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dikkat/base/json.h"
#include "dikkat/base/testing.h"

namespace dikkat::testing {

// The browser of this machine: DIKKAT_CHROMIUM (empty: none), or the first of chromium, chromium-browser and
// google-chrome on the PATH.
[[nodiscard]] std::optional<std::string> chromium_program();

class Chromium {
 public:
  explicit Chromium(const std::string& program);
  ~Chromium();
  Chromium(const Chromium&) = delete;
  Chromium& operator=(const Chromium&) = delete;

  struct View {
    std::uint64_t width = 1440;
    std::uint64_t height = 900;
    std::string theme = "light";
    double pixels = 1;  // of the device for one of CSS
  };
  void set_view(const View& view);
  // Opens a file and waits until its load event and the script are through.
  void open(const std::filesystem::path& page);

  // The value of an expression (a promise is waited for); what it throws fails as std::runtime_error.
  Json evaluate(const std::string& expression);
  [[nodiscard]] std::string text(const std::string& expression) {
    return JsonAt(evaluate(expression), "page").string();
  }
  [[nodiscard]] double number(const std::string& expression) { return JsonAt(evaluate(expression), "page").real(); }
  [[nodiscard]] bool truth(const std::string& expression) { return JsonAt(evaluate(expression), "page").boolean(); }
  void press(const std::string& key);
  void move_pointer(double x, double y);
  void click(double x, double y);
  // Milliseconds of processor time that the page's main thread has worked: scripts, style, layout and painting.
  [[nodiscard]] double worked_ms();
  // PNG
  void screenshot(const std::filesystem::path& to);

  // Errors and warnings of the console, uncaught exceptions, refusals of the content security policy.
  [[nodiscard]] const std::vector<std::string>& troubles() const { return troubles_; }
  // Every request but for the page itself and for what stands inside it (data:).
  [[nodiscard]] const std::vector<std::string>& requests() const { return requests_; }

 private:
  // Waits for the answer; takes in the events that come before.
  Json command(const std::string& method, Json parameters = Json::object());
  std::string message();
  void take_event(const JsonAt& event);
  void wait_until(const std::string& condition);
  void pointer(const std::string& type, double x, double y, std::uint64_t clicks);

  TemporaryFolder profile_;
  pid_t process_ = 0;
  int to_ = -1;
  int from_ = -1;
  std::string buffer_;
  std::string session_;
  std::uint64_t last_ = 0;
  std::string page_;
  std::vector<std::string> troubles_;
  std::vector<std::string> requests_;
};

}  // namespace dikkat::testing
