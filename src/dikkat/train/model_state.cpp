#include "dikkat/train/model_state.h"

#include <algorithm>

#include "dikkat/base/error.h"
#include "dikkat/base/json.h"

namespace dikkat::train {
namespace {

using formats::NamedTensor;

const NamedTensor* find(const std::vector<NamedTensor>& tensors, const std::string& name) {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(), [&](const NamedTensor& tensor) { return tensor.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

std::vector<std::string> differences(const std::vector<NamedTensor>& into, const std::vector<NamedTensor>& from) {
  std::vector<std::string> found;
  for (const NamedTensor& wanted : into) {
    const NamedTensor* given = find(from, wanted.name);
    if (given == nullptr) {
      found.push_back(wanted.name + " is missing");
    } else if (given->value.shape() != wanted.value.shape() || given->value.dtype() != wanted.value.dtype()) {
      found.push_back(wanted.name + " is " + std::string(name_of(given->value.dtype())) + " " +
                      given->value.shape().text() + ", expected " + std::string(name_of(wanted.value.dtype())) + " " +
                      wanted.value.shape().text());
    }
  }
  for (const NamedTensor& given : from) {
    if (find(into, given.name) == nullptr) found.push_back(label_of(given.name) + " belongs to no parameter");
  }
  return found;
}

}  // namespace

std::vector<NamedTensor> weights_of(const nn::ParameterStore& parameters) {
  std::vector<NamedTensor> weights;
  for (const nn::Parameter* parameter : parameters.in_path_order()) {
    weights.push_back({parameter->path(), parameter->value()});
  }
  return weights;
}

std::vector<NamedTensor> state_of(const optim::Optimizer& optimizer) {
  std::vector<NamedTensor> state;
  for (const auto& [name, tensor] : optimizer.state()) state.push_back({name, tensor});
  return state;
}

void restore(const std::vector<NamedTensor>& into, const std::vector<NamedTensor>& from, const std::string& what) {
  constexpr std::size_t kNamed = 5;
  const std::vector<std::string> found = differences(into, from);
  if (!found.empty()) {
    std::string list = found[0];
    for (std::size_t i = 1; i < std::min(found.size(), kNamed); ++i) list += "; " + found[i];
    if (found.size() > kNamed) list += "; and " + std::to_string(found.size() - kNamed) + " more";
    throw Error(ErrorKind::incompatible, what + " do not fit the model: " + list,
                {.hint = "use the settings they were made with"});
  }
  for (const NamedTensor& target : into) target.value.assign(find(from, target.name)->value);
}

}  // namespace dikkat::train
