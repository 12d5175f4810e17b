// The gradient of what is added to every row alike: of a bias.
#pragma once

#include "dikkat/autograd/row_sum.h"
#include "dikkat/kernels/elementwise.h"

namespace dikkat::ops {

// d_bias (C) += for each chunk of rows, the sum of dy (R,C) over its rows.
struct ColumnSum {
  Tensor dy;
  const kernels::Rows* rows;

  static void add(const kernels::Executor& executor, Joining& joining, const Pieces<ColumnSum>& pieces,
                  const Tensor& d_bias) {
    const auto add_group = [&](Chunks chunks, const Tensor& dy) {
      with_number(dy.dtype(), [&]<class T>() {
        kernels::column_sums<T>(executor, dy.data<T>(), chunks, d_bias.data<T>(), d_bias.count());
      });
    };
    each_joined(joining, pieces, add_group, &ColumnSum::dy);
  }
};

}  // namespace dikkat::ops
