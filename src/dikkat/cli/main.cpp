#include "dikkat/cli/console.h"
#include "dikkat/cli/program.h"
#include "dikkat/cli/signals.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace {

// glibc takes the largest block that was ever freed for usual from then on and keeps the next ones: a fifth of the
// memory of a small training would be held for nothing. A threshold that is set stays.
void give_large_blocks_back() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 128 * 1024);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  give_large_blocks_back();
  dikkat::cli::hold_standard_descriptors();
  dikkat::cli::ignore_write_signals();
  dikkat::cli::explain_cut_files();
  return dikkat::cli::run_program(argc > 0 ? argv[0] : "dikkat", {argv + (argc > 0 ? 1 : 0), argv + argc});
}
