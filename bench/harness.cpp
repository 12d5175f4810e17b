#include "harness.h"

#include <cmath>
#include <cstdio>
#include <exception>

#include "dikkat/base/error.h"
#include "dikkat/base/fields.h"
#include "dikkat/base/parallel.h"

namespace dikkat::bench {

Request::Request(int argc, char** argv, std::string_view usage, std::initializer_list<std::string_view> options) {
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorKind::usage, what, {.hint = "usage: " + std::string(usage)});
  };
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--json") {
      json_ = true;
    } else if (!word.starts_with("--")) {
      if (!name_.empty()) refuse("unexpected '" + std::string(word) + "'");
      name_ = word;
    } else {
      const std::string_view option = word.substr(2);
      if (std::ranges::find(options, option) == options.end()) refuse("there is no option " + std::string(word));
      const auto number = i + 1 < argc ? real_from(argv[++i]) : std::nullopt;
      if (!number || !(*number >= 0)) refuse(std::string(word) + " wants a number");
      numbers_[std::string(option)] = *number;
    }
  }
}

double Request::real(std::string_view option, double fallback) const {
  const auto found = numbers_.find(option);
  return found == numbers_.end() ? fallback : found->second;
}

std::size_t Request::count(std::string_view option, std::size_t fallback) const {
  const double number = real(option, static_cast<double>(fallback));
  if (number != std::floor(number) || number > 1e9) {
    throw Error(ErrorKind::usage, "--" + std::string(option) + " wants a count");
  }
  return static_cast<std::size_t>(number);
}

unsigned Request::threads() const { return std::max(1U, static_cast<unsigned>(count("threads", available_threads()))); }

int run_benchmark(std::string_view program, const std::function<void()>& benchmark) {
  try {
    benchmark();
    return std::fflush(stdout) == 0 ? 0 : exit_code(ErrorKind::io);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s: error: %s\n", std::string(program).c_str(), error.what());
    return exit_code(error.kind());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: error: %s\n", std::string(program).c_str(), error.what());
    return exit_code(ErrorKind::internal);
  }
}

}  // namespace dikkat::bench
