// Layouts, tiles and iterators made of templates, in the manner of libraries for matrix products.
#pragma once

namespace mat {

template <int Value>
struct Int {
  static constexpr int value = Value;
};
template <class... Parts>
struct Shape {};
template <class Head, class... Tail>
struct Shape<Head, Tail...> {
  static constexpr int rank = 1 + sizeof...(Tail);
  static constexpr int size = Head::value * Shape<Tail...>::size;
};
template <>
struct Shape<> {
  static constexpr int rank = 0;
  static constexpr int size = 1;
};
template <int Index, class S>
struct Get;
template <class Head, class... Tail>
struct Get<0, Shape<Head, Tail...> > : Head {};
template <int Index, class Head, class... Tail>
struct Get<Index, Shape<Head, Tail...> > : Get<Index - 1, Shape<Tail...> > {};

template <bool Condition, class Yes, class No>
struct Choose {
  typedef Yes type;
};
template <class Yes, class No>
struct Choose<false, Yes, No> {
  typedef No type;
};

struct RowMajor {
  template <class S>
  __host__ __device__ static constexpr int At(int row, int column) {
    return row * Get<1, S>::value + column;
  }
};
struct ColumnMajor {
  template <class S>
  __host__ __device__ static constexpr int At(int row, int column) {
    return column * Get<0, S>::value + row;
  }
};

template <class T, class S, class Layout>
struct Fragment {
  T storage[S::size];
  __device__ T& operator()(int row, int column) { return storage[Layout::template At<S>(row, column)]; }
  template <class F>
  __device__ void Each(F f) {
    for (int i = 0; i < S::size; ++i) f(storage[i]);
  }
};

template <class Derived>
struct Policy {
  __device__ const Derived& self() const { return static_cast<const Derived&>(*this); }
  template <class T>
  __device__ T Combine(T sum, T a, T b) const {
    return self().Multiply(a, b) + sum;
  }
};
struct Plain : Policy<Plain> {
  template <class T>
  __device__ T Multiply(T a, T b) const {
    return a * b;
  }
};

template <class T, class S, template <class> class PolicyOf, class P = PolicyOf<Plain> >
struct Product {
  typedef typename Choose<(S::size > 8), RowMajor, ColumnMajor>::type Layout;
  typedef Fragment<T, S, Layout> Accumulator;
  struct Clear {
    __device__ void operator()(T& value) const { value = T(0); }
  };
  Accumulator sums;
  __device__ Product() { sums.Each(Clear()); }
  __device__ void Step(const T* a, const T* b, int strideA, int strideB) {
    const Plain policy;
    for (int r = 0; r < Get<0, S>::value; ++r) {
      for (int c = 0; c < Get<1, S>::value; ++c) {
        sums(r, c) = policy.Combine(sums(r, c), a[r * strideA], b[c * strideB]);
      }
    }
  }
};

}  // namespace mat
