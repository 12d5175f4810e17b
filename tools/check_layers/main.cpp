// check_layers ROOT: prints what breaks the rule of floors, one line each; exits 1 when anything does.
#include <exception>
#include <iostream>

#include "layers.h"

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: check_layers ROOT\n";
    return 2;
  }
  try {
    const auto violations = layers::check(arguments[1]);
    for (const auto& [place, rule] : violations) std::cout << place << ": " << rule << '\n';
    std::cout << (violations.empty() ? "the house holds" : "the house does not hold") << '\n';
    return violations.empty() ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "check_layers: " << error.what() << '\n';
    return 2;
  }
}
