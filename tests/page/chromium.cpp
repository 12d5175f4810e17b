#include "chromium.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <thread>

namespace dikkat::testing {
namespace {

constexpr int kPatienceMs = 120'000;  // a busy machine starts a browser slowly

std::vector<std::string> words_of(const std::string& program, const std::filesystem::path& profile) {
  return {program,
          "--headless=new",
          "--no-sandbox",
          "--remote-debugging-pipe",
          "--user-data-dir=" + profile.string(),
          "--host-resolver-rules=MAP * ~NOTFOUND",
          "--disable-background-networking",
          "--disable-component-update",
          "--disable-dev-shm-usage",
          "--disable-extensions",
          "--disable-gpu",
          "--disable-sync",
          "--no-first-run",
          "about:blank"};
}

std::string decoded_base64(const std::string& text) {
  static constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t held = 0;
  int bits = 0;
  for (const char c : text) {
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) break;
    held = (held << 6U) | static_cast<std::uint32_t>(digit);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>((held >> static_cast<unsigned>(bits)) & 0xffU);
  }
  return bytes;
}

std::string text_at(const JsonAt& at, std::string_view key) { return at.has(key) ? at[key].string() : ""; }

}  // namespace

std::optional<std::string> chromium_program() {
  if (const char* named = std::getenv("DIKKAT_CHROMIUM"); named != nullptr) {
    return *named == 0 ? std::nullopt : std::optional<std::string>(named);
  }
  const char* path = std::getenv("PATH");
  const std::string_view folders = path == nullptr ? "/usr/bin" : path;
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
    for (std::size_t begin = 0; begin <= folders.size();) {
      const std::size_t end = std::min(folders.find(':', begin), folders.size());
      const std::string file = std::string(folders.substr(begin, end - begin)) + "/" + name;
      if (access(file.c_str(), X_OK) == 0) return file;
      begin = end + 1;
    }
  }
  return std::nullopt;
}

Chromium::Chromium(const std::string& program) {
  signal(SIGPIPE, SIG_IGN);
  std::array<int, 2> commands{};
  std::array<int, 2> answers{};
  if (pipe2(commands.data(), O_CLOEXEC) != 0 || pipe2(answers.data(), O_CLOEXEC) != 0)
    throw std::runtime_error("no pipe");
  // Out of the way of 3 and 4, which the child's own ends become.
  const int in = fcntl(commands[0], F_DUPFD_CLOEXEC, 10);
  const int out = fcntl(answers[1], F_DUPFD_CLOEXEC, 10);
  to_ = fcntl(commands[1], F_DUPFD_CLOEXEC, 10);
  from_ = fcntl(answers[0], F_DUPFD_CLOEXEC, 10);
  for (const int end : {commands[0], commands[1], answers[0], answers[1]}) close(end);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in, 3);
  posix_spawn_file_actions_adddup2(&actions, out, 4);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, (profile_ / "err").c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);  // a group of its own, so that all of it can be ended
  std::vector<std::string> words = words_of(program, profile_.path());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const int failed = posix_spawn(&process_, program.c_str(), &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(in);
  close(out);
  if (failed != 0) throw std::runtime_error("cannot start " + program);

  const Json target = command("Target.createTarget", Json::object().set("url", "about:blank"));
  Json attach = Json::object();
  attach.set("targetId", JsonAt(target, "chromium")["targetId"].string()).set("flatten", true);
  const Json attached = command("Target.attachToTarget", std::move(attach));
  session_ = JsonAt(attached, "chromium")["sessionId"].string();
  for (const char* domain : {"Page", "Runtime", "Log", "Network"}) (void)command(std::string(domain) + ".enable");
}

Chromium::~Chromium() {
  close(to_);
  close(from_);
  if (process_ > 0) {
    kill(-process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
}

std::string Chromium::message() {
  for (std::size_t end = buffer_.find('\0');; end = buffer_.find('\0')) {
    if (end != std::string::npos) {
      std::string text = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return text;
    }
    pollfd ready{from_, POLLIN, 0};
    if (poll(&ready, 1, kPatienceMs) <= 0) throw std::runtime_error("the browser does not answer");
    std::array<char, 65536> piece{};
    const ssize_t count = read(from_, piece.data(), piece.size());
    if (count <= 0) {
      std::ifstream err(profile_ / "err");
      throw std::runtime_error("the browser has ended: " + std::string(std::istreambuf_iterator<char>(err), {}));
    }
    buffer_.append(piece.data(), static_cast<std::size_t>(count));
  }
}

Json Chromium::command(const std::string& method, Json parameters) {
  Json sent = Json::object();
  sent.set("id", ++last_).set("method", method).set("params", std::move(parameters));
  if (!session_.empty()) sent.set("sessionId", session_);
  const std::string line = text_of(sent) + '\0';
  for (std::size_t written = 0; written < line.size();) {
    const ssize_t count = write(to_, line.data() + written, line.size() - written);
    if (count <= 0) throw std::runtime_error("the browser takes no commands");
    written += static_cast<std::size_t>(count);
  }
  for (;;) {
    const Json answer = parse_json(message(), "chromium", {.bytes = std::size_t{64} << 20U});
    const JsonAt at(answer, "chromium");
    if (!at.has("id")) {
      take_event(at);
    } else if (at["id"].count() == last_) {
      if (at.has("error")) throw std::runtime_error(method + ": " + at["error"]["message"].string());
      return at["result"].value();
    }
  }
}

void Chromium::take_event(const JsonAt& event) {
  const std::string method = text_at(event, "method");
  if (method == "Runtime.exceptionThrown") {
    const JsonAt details = event["params"]["exceptionDetails"];
    troubles_.push_back(details.has("exception") ? text_at(details["exception"], "description")
                                                 : text_at(details, "text"));
  } else if (method == "Runtime.consoleAPICalled") {
    const std::string type = event["params"]["type"].string();
    if (type == "error" || type == "warning" || type == "assert") troubles_.push_back("console." + type);
  } else if (method == "Log.entryAdded") {
    const JsonAt entry = event["params"]["entry"];
    if (entry["level"].string() != "verbose") troubles_.push_back(entry["text"].string());
  } else if (method == "Network.requestWillBeSent") {
    const std::string url = event["params"]["request"]["url"].string();
    if (url != page_ && !url.starts_with("data:")) requests_.push_back(url);
  }
}

void Chromium::set_view(const View& view) {
  Json size = Json::object();
  size.set("width", view.width).set("height", view.height).set("deviceScaleFactor", view.pixels).set("mobile", false);
  (void)command("Emulation.setDeviceMetricsOverride", std::move(size));
  Json feature = Json::object();
  feature.set("name", "prefers-color-scheme").set("value", view.theme);
  (void)command("Emulation.setEmulatedMedia", Json::object().set("features", Json::array().push(std::move(feature))));
}

void Chromium::open(const std::filesystem::path& page) {
  page_ = "file://" + page.string();
  Json offline = Json::object();
  offline.set("offline", true).set("latency", 0U).set("downloadThroughput", -1).set("uploadThroughput", -1);
  (void)command("Network.emulateNetworkConditions", std::move(offline));
  (void)command("Page.navigate", Json::object().set("url", page_));
  wait_until("location.href !== 'about:blank' && document.readyState === 'complete'");
}

void Chromium::wait_until(const std::string& condition) {
  for (int attempt = 0; attempt < kPatienceMs / 20; ++attempt) {
    if (truth("Boolean(" + condition + ")")) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  throw std::runtime_error("never came: " + condition);
}

Json Chromium::evaluate(const std::string& expression) {
  Json parameters = Json::object();
  parameters.set("expression", expression).set("returnByValue", true).set("awaitPromise", true);
  const Json answer = command("Runtime.evaluate", std::move(parameters));
  const JsonAt at(answer, "chromium");
  if (at.has("exceptionDetails")) {
    const JsonAt details = at["exceptionDetails"];
    throw std::runtime_error(details.has("exception") ? text_at(details["exception"], "description")
                                                      : text_at(details, "text"));
  }
  return at["result"].has("value") ? at["result"]["value"].value() : Json();
}

void Chromium::press(const std::string& key) {
  for (const char* type : {"keyDown", "keyUp"}) {
    Json parameters = Json::object();
    parameters.set("type", type).set("key", key);
    if (key == "Tab") parameters.set("windowsVirtualKeyCode", 9U);
    if (key.size() == 1 && std::string_view(type) == "keyDown") parameters.set("text", key);
    (void)command("Input.dispatchKeyEvent", std::move(parameters));
  }
}

void Chromium::pointer(const std::string& type, double x, double y, std::uint64_t clicks) {
  Json parameters = Json::object();
  parameters.set("type", type).set("x", x).set("y", y).set("clickCount", clicks);
  parameters.set("button", clicks == 0 ? "none" : "left");
  (void)command("Input.dispatchMouseEvent", std::move(parameters));
}

void Chromium::move_pointer(double x, double y) { pointer("mouseMoved", x, y, 0); }

void Chromium::click(double x, double y) {
  pointer("mousePressed", x, y, 1);
  pointer("mouseReleased", x, y, 1);
}

double Chromium::worked_ms() {
  (void)command("Performance.enable", Json::object().set("timeDomain", "threadTicks"));
  const Json answer = command("Performance.getMetrics");
  for (const JsonAt& metric : JsonAt(answer, "chromium")["metrics"].items()) {
    if (metric["name"].string() == "TaskDuration") return 1000 * metric["value"].real();
  }
  throw std::runtime_error("the browser does not tell its time");
}

void Chromium::screenshot(const std::filesystem::path& to) {
  const Json answer = command("Page.captureScreenshot", Json::object().set("format", "png"));
  std::ofstream file(to, std::ios::binary);
  file << decoded_base64(JsonAt(answer, "chromium")["data"].string());
}

}  // namespace dikkat::testing
