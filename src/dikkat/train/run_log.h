// RUN/log.jsonl: one line of JSON a step, and lines of their own for evaluations.
//
//   {"step":1,"loss_nats":4.17,"gradient_norm":1.2,"learning_rate":1e-05,"tokens_per_s":71234.5,"weights_sha256":"..."}
//   {"event":"eval","step":200,"loss_nats":2.1,"tokens":111540,"best":true}
//   {"event":"eval","step":200,"loss_nats":0.1,"series":72,"accuracy":0.97,"best":true}
//
// Where a number is learned, "squared_error" (of standardised numbers) stands for "loss_nats".
// Numbers are shortest decimals that read back to the same bits (tokens_per_s: one decimal); what is not finite stands
// as text: "nan", "inf", "-inf". A skipped step has "skipped":true at its end.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "dikkat/train/trainer.h"

namespace dikkat::train {

inline constexpr const char* kLogName = "log.jsonl";

enum class StepFate : std::uint8_t { updated, skipped };

// Appends lines, each by one write and without allocating.
class RunLog {
 public:
  // Makes the file when it is missing. Error{io}.
  RunLog(const std::filesystem::path& run, models::Task task);
  ~RunLog();
  RunLog(const RunLog&) = delete;
  RunLog& operator=(const RunLog&) = delete;

  // Error{io} when the disk is full; the torn line is taken back.
  void step(const StepReport& report, StepFate fate = StepFate::updated);
  void evaluation(const EvaluationReport& report);
  // To the disk: before a checkpoint is saved, so that the log reaches at least as far as it.
  void sync();

 private:
  void put(std::string_view text);
  void put(std::uint64_t number);
  void put(double number);
  void put_rate(double number);
  void put_loss(double loss);
  void write_line();

  models::Task task_;
  std::array<char, 512> line_{};
  std::size_t used_ = 0;
  int descriptor_ = -1;
  std::string file_;
};

// Takes out of the log what lies beyond the checkpoint training goes on from: lines of later steps, and lines that are
// not whole. Replaced at once; untouched when there is nothing to take. Returns how many lines went.
std::size_t cut_log_to(const std::filesystem::path& run, std::uint64_t step);

}  // namespace dikkat::train
