// The book's text format: one tensor a line, in a fixed order of the list, its values row by row as shortest decimals
// that read back to the same bits, one blank between them, '\n' after each line. It holds neither names nor shapes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dikkat/formats/named_tensor.h"

namespace dikkat::formats {

// Error{numeric} naming the tensor for a value that is not finite, which the format has no word for.
void write_text_weights(std::span<const NamedTensor> tensors, const Sink& sink);

// One tensor for each shape. The last line may end without '\n'. Error{malformed} with line and column for what is no
// finite decimal number or another blank; Error{incompatible} with the line for another number of lines or values,
// where all values are numbers.
[[nodiscard]] std::vector<Tensor> read_text_weights(std::string_view text, std::span<const Shape> shapes, DType dtype,
                                                    const std::string& file);

}  // namespace dikkat::formats
