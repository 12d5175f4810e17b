// Uses the house as a stranger would: its version, its threads, its randomness and its one exception.
#include <dikkat/base/error.h>
#include <dikkat/base/parallel.h>
#include <dikkat/base/version.h>
#include <dikkat/random/philox.h>

#include <array>
#include <cstddef>
#include <iostream>
#include <string>

int main() {
  std::array<std::size_t, 100> squares{};
  dikkat::Pool pool(2);
  pool.run(squares.size(), [&](std::size_t i, unsigned) { squares[i] = i * i; });
  std::size_t sum = 0;
  for (const std::size_t square : squares) sum += square;
  if (sum != 328350) return 1;

  // The known answer of Philox4x32-10 for key and counter zero.
  if (dikkat::random::philox(0, {0, 0, 0, 0})[0] != 0x6627e8d5U) return 2;

  try {
    throw dikkat::Error(dikkat::ErrorKind::usage, "a width of 10 does not divide", {.key = "width"});
  } catch (const std::exception& error) {
    if (std::string(error.what()).find("width") == std::string::npos) return 3;
  }
  std::cout << "built on dikkat " << dikkat::version().number << '\n';
}
