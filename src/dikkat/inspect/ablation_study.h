// The passes of an ablation: the model as it is and with each part taken away, over the same windows.
#pragma once

#include <optional>
#include <vector>

#include "dikkat/inspect/ablation.h"
#include "dikkat/inspect/passes.h"

namespace dikkat::inspect {

class AblationStudy {
 public:
  // `into` has parts and options; windows, losses and effects without their estimates are added. All outlive the study.
  AblationStudy(const models::LanguageModel& model, const kernels::Executor& executor, const AblationText& text,
                Ablation& into);
  // false when stopped.
  [[nodiscard]] bool run(const Progress& progress);

 private:
  // What of a batch of measured windows the trials share.
  struct Windows {
    data::Batch batch = {};
    std::size_t first = 0;  // number of the first window
    std::vector<double> losses = {};
    std::vector<bool> rows = {};       // where parts are taken away; empty: everywhere
    std::vector<Tensor> donated = {};  // by site, of the donors' windows
    Tensor tokens = {};                // embedded without positions
    Tensor where_positions = {};       // what stands at first_site_of_positions
  };

  void list_effects();
  void prepare_positions();
  [[nodiscard]] bool take_means(const Progress& progress);
  [[nodiscard]] Windows windows(std::size_t first, std::size_t count);
  void measure(Effect& effect, const Windows& windows);
  [[nodiscard]] std::vector<Replacement> replacements(const Effect& effect, const Windows& windows) const;
  [[nodiscard]] Tensor embedding_by(Substitute by, const Windows& windows) const;
  [[nodiscard]] bool uses(Substitute by) const;
  [[nodiscard]] bool takes_positions(const Effect& effect) const;
  [[nodiscard]] bool report(const Progress& progress, std::size_t passes);

  const models::LanguageModel& model_;
  const AblationText text_;
  Ablation& into_;
  Passes passes_;
  std::vector<Site> sites_;    // of all parts, each once
  std::vector<Tensor> means_;  // (1, count) of each site
  bool any_positions_ = false;
  Tensor position_vectors_;                    // (length, C), where they are added
  std::optional<models::LanguageModel> bare_;  // where they are not
  std::optional<Passes> bare_passes_;
  std::size_t done_ = 0;
  std::size_t planned_ = 0;
};

}  // namespace dikkat::inspect
