// The order and shapes in which the book's KucukGPT keeps its parameters (document "Transformer bloğu",
// GPT.Parametreler): token embedding, position embedding, every head's Wq, every head's Wk, Wv, Wo, then g1, b1, g2,
// b2, I1, Ib1, I2, Ib2 of every layer, the final norm's g and b, the output's W and b. Heads are separate matrices
// there, (C,D) and (D,C): views into this house's joint ones. 54 tensors for the preset `kucuk`; what a model does not
// have is left out, what the book does not have (attention biases) follows its weight.
#pragma once

#include <string>
#include <vector>

#include "dikkat/models/language_model.h"

namespace dikkat::models {

struct BookTensor {
  std::string name;  // "wq[5]" = layer 1, head 1 of 4
  Tensor value;      // a view, perhaps not contiguous
  double scale = 0;  // deviation of its initial values in the book's constructor; 0: ones or zeros
};

enum class BookOrder : std::uint8_t {
  parameters,
  construction
};  // Parametreler, or the constructor's order of creation

// Views on the values of the model's parameters.
[[nodiscard]] std::vector<BookTensor> book_layout(const LanguageModel& model, BookOrder order = BookOrder::parameters);
// The same views on its gradients (kept by the model).
[[nodiscard]] std::vector<BookTensor> book_gradients(const LanguageModel& model);

}  // namespace dikkat::models
