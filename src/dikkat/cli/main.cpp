#include "dikkat/cli/console.h"
#include "dikkat/cli/program.h"
#include "dikkat/cli/signals.h"

int main(int argc, char** argv) {
  dikkat::cli::hold_standard_descriptors();
  dikkat::cli::ignore_write_signals();
  dikkat::cli::explain_cut_files();
  return dikkat::cli::run_program(argc > 0 ? argv[0] : "dikkat", {argv + (argc > 0 ? 1 : 0), argv + argc});
}
