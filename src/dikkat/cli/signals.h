// Signals: the first asks training to stop after a durable checkpoint, the second stops the program at once.
#pragma once

#include "dikkat/train/trainer.h"

namespace dikkat::cli {

// A pipe nobody reads and a file grown too large become errors of write() instead of the end of the program.
void ignore_write_signals();

// Files are read where they are mapped. One that somebody cuts shorter meanwhile ends the program with a line saying so
// and the exit code of a failed read, instead of signal 7.
void explain_cut_files();

// SIGINT, SIGTERM, SIGHUP and SIGUSR1 set the returned request, saying at once on standard error what will happen (on
// a terminal on a line of its own; `what_happens` lives as long as the program);
// the second of them has its default action. For as long as the program runs.
[[nodiscard]] const train::StopRequest& stop_on_signals(const char* what_happens);

// The exit code of a program stopped that way: 130 for SIGINT, 143 for the others.
[[nodiscard]] int exit_code_of_signal(int signal);

}  // namespace dikkat::cli
