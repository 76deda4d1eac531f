// Bindings for a matrix over several ranks: kernels that Python steps, exchanging their messages in
// between, and the sorts of elements to send.
#include <nanobind/stl/string.h>

#include "bindings/nanobind_helpers.hpp"
#include "decomposition/over_ranks/propagation.hpp"
#include "decomposition/over_ranks/trimming.hpp"
#include "matching/over_ranks/augment.hpp"
#include "matching/over_ranks/karp_sipser.hpp"
#include "matching/over_ranks/owner_order.hpp"
#include "matching/over_ranks/transposition.hpp"

using namespace sparsematch;
using namespace sparsematch::over_ranks;

namespace {

using Starts = In<std::int64_t>;

template <class Index>
Owners<Index> owners(const Starts& starts, int rank) {
    return {starts.data(), static_cast<int>(starts.size()) - 1, rank};
}

// A kernel, and the arrays that it works on.
template <class Kernel, class Arrays>
struct Bound {
    Arrays arrays;
    Kernel kernel;
};

// indptr and indices.
template <class Index>
using Lists = std::pair<Starts, In<Index>>;

// Lists; mates, trees, parent and before; leaf.
template <class Index>
using ForestArg =
    std::tuple<Lists<Index>, std::tuple<Sides<const Index>, Sides<Index>, Sides<Index>>,
               Out<Index>>;
template <class Index>
ForestArrays<Index> view(const ForestArg<Index>& given) {
    const auto& [lists, pairs, leaf] = given;
    const auto& [mates, trees, links] = pairs;
    return {lists.first.data(),  lists.second.data(), mates.first.data(),
            mates.second.data(), trees.first.data(),  trees.second.data(),
            links.first.data(),  links.second.data(), leaf.data()};
}
template <class Index>
using BoundForest = Bound<Forest<Index>, ForestArg<Index>>;
template <class Index>
using BoundAugmentation = Bound<Augmentation<Index>, std::pair<ForestArg<Index>, Sides<Index>>>;

// Lists, mate, and degree and last neighbour of each vertex.
template <class Index>
using SideArg = std::tuple<Lists<Index>, Out<Index>, Out<Index>>;
template <class Index>
KarpSipserSide<Index> view(const SideArg<Index>& given) {
    using Residual = typename KarpSipserSide<Index>::Residual;
    static_assert(sizeof(Residual) == 2 * sizeof(Index));
    const auto& [lists, mate, residual] = given;
    return {lists.first.data(), lists.second.data(), mate.data(),
            reinterpret_cast<Residual*>(residual.data())};
}
template <class Index>
using BoundKarpSipser = Bound<KarpSipser<Index>, std::pair<SideArg<Index>, SideArg<Index>>>;

template <class Index>
BoundForest<Index>* make_forest(ForestArg<Index> arrays, std::pair<Starts, Starts> starts, int rank,
                                std::pair<std::int64_t, std::int64_t> limits, bool prune) {
    const auto [budget, announced] = limits;
    return new BoundForest<Index>{arrays,
                                  {view(arrays), owners<Index>(starts.first, rank),
                                   owners<Index>(starts.second, rank), budget, announced, prune}};
}
template <class Index>
BoundAugmentation<Index>* make_augmentation(ForestArg<Index> arrays, Sides<Index> mates,
                                            std::pair<Starts, Starts> starts, int rank) {
    return new BoundAugmentation<Index>{
        {arrays, mates},
        {view(arrays), mates.first.data(), mates.second.data(), owners<Index>(starts.first, rank),
         owners<Index>(starts.second, rank)}};
}
template <class Index>
BoundKarpSipser<Index>* make_karp_sipser(SideArg<Index> rows, SideArg<Index> cols,
                                         std::pair<Starts, Starts> starts, int rank,
                                         std::int64_t budget, std::uint64_t seed) {
    return new BoundKarpSipser<Index>{{rows, cols},
                                      {view(rows), view(cols), owners<Index>(starts.first, rank),
                                       owners<Index>(starts.second, rank), budget, seed}};
}

// An array of the kernel's, for as long as the kernel does not resize it.
template <class T>
auto seen(std::vector<T>& vector, nb::handle owner) {
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(vector.data(), {vector.size()}, owner);
}

// The methods of every kernel: see Kernel of mpi/core/exchange.py.
template <class B>
nb::class_<B> bind_kernel(nb::module_& m, const char* name) {
    const auto messages = [](nb::handle self) -> auto& {
        return nb::cast<B&>(self).kernel.messages();
    };
    return nb::class_<B>(m, name)
        .def("step",
             [](B& self, bool quiet) {
                 const ReleasedGil released;
                 self.kernel.step(quiet);
             })
        .def("read_headers", [](B& self) { return self.kernel.messages().read_headers(); })
        .def("bytes", [](B& self) { return self.kernel.bytes(); })
        .def("send_headers",
             [=](nb::handle self) { return seen(messages(self).send_headers(), self); })
        .def("receive_headers",
             [=](nb::handle self) { return seen(messages(self).receive_headers(), self); })
        .def("send_buffer",
             [=](nb::handle self) { return seen(messages(self).send_buffer(), self); })
        .def("receive_buffer",
             [=](nb::handle self) { return seen(messages(self).receive_buffer(), self); })
        .def("send_counts",
             [=](nb::handle self) { return seen(messages(self).send_counts(), self); })
        .def("receive_counts",
             [=](nb::handle self) { return seen(messages(self).receive_counts(), self); });
}

template <class Index>
using BoundTransposition =
    Bound<Transposition<Index>, std::tuple<Lists<Index>, Out<std::int64_t>, Out<Index>>>;

template <class Index>
BoundTransposition<Index>* make_transposition(Starts indptr, In<Index> indices,
                                              std::pair<Starts, Starts> starts, int rank,
                                              Out<std::int64_t> filled, Out<Index> lists, bool fill,
                                              std::int64_t budget) {
    return new BoundTransposition<Index>{
        {{indptr, indices}, filled, lists},
        {indptr.data(), indices.data(), owners<Index>(starts.first, rank),
         owners<Index>(starts.second, rank), filled.data(), lists.data(), fill, budget}};
}

template <class Index>
using BoundTrimming = Bound<Trimming<Index>, std::tuple<Lists<Index>, Out<Index>, Out<Index>>>;
template <class Index>
BoundTrimming<Index>* make_trimming(Starts indptr, In<Index> indices, Out<Index> count,
                                    Out<Index> level, Starts starts, int rank,
                                    std::int64_t budget) {
    return new BoundTrimming<Index>{{{indptr, indices}, count, level},
                                    {indptr.data(), indices.data(), count.data(), level.data(),
                                     owners<Index>(starts, rank), budget}};
}

template <class Index>
using BoundPropagation = Bound<Propagation<Index>, std::tuple<Starts, In<Index>, Out<Index>>>;
template <class Index>
BoundPropagation<Index>* make_propagation(Starts indptr, In<Index> indices, Out<Index> label,
                                          Starts starts, int rank, std::int64_t budget) {
    return new BoundPropagation<Index>{
        {indptr, indices, label},
        {indptr.data(), indices.data(), label.data(), owners<Index>(starts, rank), budget}};
}

template <class Index>
void run_owner_order(Starts starts, In<Index> keys, Out<std::int64_t> order,
                     Out<std::int64_t> counts) {
    const ReleasedGil released;
    owner_order(owners<Index>(starts, 0), keys.data(), keys.size(), order.data(), counts.data());
}
template <class Index>
void run_places_in_lists(In<Index> keys, Out<std::int64_t> filled, Out<std::int64_t> places) {
    const ReleasedGil released;
    places_in_lists(keys.data(), keys.size(), filled.data(), places.data());
}

template <class Index>
void bind(nb::module_& m, const std::string& bits) {
    bind_kernel<BoundForest<Index>>(m, ("Forest" + bits).c_str())
        .def("plant", [](BoundForest<Index>& self) { self.kernel.plant(); })
        .def("release",
             [](BoundForest<Index>& self, In<bool> done) { self.kernel.release(done.data()); })
        .def("roots",
             [](BoundForest<Index>& self) {
                 std::vector<Index> roots = self.kernel.roots();
                 const auto n = roots.size();
                 return owned(std::move(roots), n);
             })
        .def("edges", [](BoundForest<Index>& self) { return self.kernel.edges(); })
        .def("has_found", [](BoundForest<Index>& self) { return self.kernel.has_found(); });
    bind_kernel<BoundAugmentation<Index>>(m, ("Augmentation" + bits).c_str())
        .def("paths", [](BoundAugmentation<Index>& self) { return self.kernel.paths(); })
        .def("pairs", [](BoundAugmentation<Index>& self) { return self.kernel.pairs(); });
    bind_kernel<BoundKarpSipser<Index>>(m, ("KarpSipser" + bits).c_str())
        .def("edges", [](BoundKarpSipser<Index>& self) { return self.kernel.edges(); });
    m.def("forest_over_ranks", make_forest<Index>);
    m.def("augmentation_over_ranks", make_augmentation<Index>);
    m.def("karp_sipser_over_ranks", make_karp_sipser<Index>);
    bind_kernel<BoundTransposition<Index>>(m, ("Transposition" + bits).c_str());
    m.def("transposition_over_ranks", make_transposition<Index>);
    bind_kernel<BoundTrimming<Index>>(m, ("Trimming" + bits).c_str());
    m.def("trimming_over_ranks", make_trimming<Index>);
    bind_kernel<BoundPropagation<Index>>(m, ("Propagation" + bits).c_str());
    m.def("propagation_over_ranks", make_propagation<Index>);
    m.def("owner_order", run_owner_order<Index>);
    m.def("places_in_lists", run_places_in_lists<Index>);
}

}  // namespace

void sparsematch::bind_over_ranks(nb::module_& m) {
    bind<std::int32_t>(m, "32");
    bind<std::int64_t>(m, "64");
}
