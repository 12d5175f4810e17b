// The tap: every activation of the forward pass can be read, and replaced, by its path. The model that trains is the
// model that is looked at: a tapped pass computes the same bits, and writing an activation back over itself changes
// none.
//
// Paths, with their shapes (R rows of the packed batch; see kernels/rows.h):
//   embedding                      (R,C)    token and position embedding summed
//   blocks.I.residual_pre          (R,C)    what enters the block
//   blocks.I.attention.q, .k, .v   (R,H,D), (R,G,D), (R,G,D)   after rotation; views, not contiguous
//   blocks.I.attention.pattern     (R,H,keys)  weights before dropout; rows sum to one; not shown when a cache is used
//   blocks.I.attention.mixed       (R,H D)  heads' outputs side by side
//   blocks.I.attention.out         (R,C)    what attention adds
//   blocks.I.residual_mid          (R,C)    after attention
//   blocks.I.mlp.pre, .post        (R,F)    before (swiglu: (R,2F)) and after the non-linearity
//   blocks.I.mlp.out               (R,C)    what the MLP adds
//   blocks.I.residual_post         (R,C)    what leaves the block
//   final_norm                     (R,C)
//   logits                         (R,V)
#pragma once

#include <string>
#include <string_view>

#include "dikkat/autograd/context.h"
#include "dikkat/tensor/tensor.h"

namespace dikkat::nn {

class Tap {
 public:
  virtual ~Tap() = default;
  // Asked before an activation is made visible; paths nobody wants cost nothing.
  [[nodiscard]] virtual bool wants(std::string_view path) const = 0;
  // May write into the activation. Keep a clone, not the tensor: its memory is used again.
  virtual void see(std::string_view path, Tensor& activation) = 0;
};

// Shows `activation` of `module` under "<module>.<name>" (or `name` alone for an empty module) if there is a tap that
// wants it.
inline void show(Context& context, std::string_view module, std::string_view name, Tensor activation) {
  if (context.tap == nullptr) return;
  std::string path(module);
  if (!path.empty()) path += '.';
  path += name;
  if (context.tap->wants(path)) context.tap->see(path, activation);
}

}  // namespace dikkat::nn
