// A loop whose steps read what several threads of a block need: what shared_tiling.cc recognises
// and tiling_writer.cc writes. Values.
#pragma once

#include <string>
#include <vector>

#include "source/rewrite/guarded_body.h"
#include "source/rewrite/loops.h"

namespace cupilot::source {

// A load in the loop that is the same for all threads along x, along y, or both.
struct TiledOperand {
  std::vector<NodeId> subscripts;     // where it stands, each with the same text
  char axis = 0;                      // it depends on the place along this axis; 0: on neither
  bool steps_are_neighbours = false;  // the loop walks along memory
  std::string element;
  std::int64_t bytes = 0;
};

struct TilingPlan {
  GuardedBody body;
  std::vector<NodeId> places;  // declarations before the loop that follow from the place
  std::vector<NodeId> before;  // other statements before it
  CountingLoop loop;
  std::vector<NodeId> steps;  // the statements of its body
  bool steps_use_places = false;
  std::vector<NodeId> after;
  std::vector<TiledOperand> operands;
  std::vector<NodeId> state;  // variables that each output has for its own
};

struct TilingShape {
  std::int64_t tile_m = 64, tile_n = 64, tile_k = 16;  // along y, along x, steps of the loop
  std::int64_t rows = 4, columns = 4;                  // outputs a thread along y and x
  std::int64_t threads_x() const { return tile_n / columns; }
  std::int64_t threads_y() const { return tile_m / rows; }
  std::int64_t threads() const { return threads_x() * threads_y(); }
};

// Elements of one row of an operand's tile that are used, and those that it is stored with.
std::int64_t TileSide(const TiledOperand& operand, const TilingShape& shape);
std::int64_t TileRow(const TiledOperand& operand, const TilingShape& shape);

// The kernel's body.
std::string TiledBody(const Draft& draft, const TilingPlan& plan, const TilingShape& shape);

}  // namespace cupilot::source
