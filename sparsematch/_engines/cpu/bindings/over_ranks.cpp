// Bindings for a matrix over several ranks: kernels that Python steps, exchanging their messages in
// between, and the sorts of elements to send. A kernel keeps the arrays alive that it works on.
#include <nanobind/stl/string.h>

#include "bindings/nanobind_helpers.hpp"
#include "decomposition/over_ranks/propagation.hpp"
#include "decomposition/over_ranks/trimming.hpp"
#include "matching/over_ranks/augment.hpp"
#include "matching/over_ranks/karp_sipser.hpp"
#include "matching/over_ranks/transposition.hpp"

using namespace sparsematch;
using namespace sparsematch::over_ranks;

namespace {

using Starts = In<std::int64_t>;
using BothStarts = std::pair<Starts, Starts>;  // of majors, of minors
template <class Index>
using Lists = std::pair<Starts, In<Index>>;  // indptr and indices
template <std::size_t argument>
using Keep = nb::keep_alive<0, argument>;

template <class Index>
Owners<Index> owners(const Starts& starts, int rank) {
    return {starts.data(), static_cast<int>(starts.size()) - 1, rank};
}

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

// The methods of every kernel: see Kernel of mpi/core/exchange.py. Arrays are the kernel's, to be
// used before it is stepped again.
template <class Kernel>
nb::class_<Kernel> bind_kernel(nb::module_& m, const std::string& name) {
    nb::class_<Kernel> kernel(m, name.c_str());
    kernel.def("step", &Kernel::step, nb::call_guard<ReleasedGil>())
        .def("read_headers", [](Kernel& self) { return self.messages.read_headers(); });
    const auto def_array = [&](const char* name, auto member) {
        kernel.def(name, [member](nb::handle self) {
            auto& array = nb::cast<Kernel&>(self).messages.*member;
            using Value = std::remove_reference_t<decltype(array[0])>;
            return nb::ndarray<nb::numpy, Value, nb::ndim<1>>(array.data(), {array.size()}, self);
        });
    };
    using Messages = decltype(Kernel::messages);
    def_array("send_headers", &Messages::send_headers);
    def_array("receive_headers", &Messages::receive_headers);
    def_array("send_buffer", &Messages::send_buffer);
    def_array("receive_buffer", &Messages::receive_buffer);
    def_array("send_counts", &Messages::send_counts);
    def_array("receive_counts", &Messages::receive_counts);
    return kernel;
}

template <class Index>
void bind_matching_kernels(nb::module_& m, const std::string& bits) {
    bind_kernel<Forest<Index>>(m, "Forest" + bits)
        .def("plant", &Forest<Index>::plant)
        .def("release", [](Forest<Index>& self, In<bool> done) { self.release(done.data()); })
        .def("roots",
             [](const Forest<Index>& self) { return owned(std::vector<Index>(self.roots())); })
        .def("edges", &Forest<Index>::edges)
        .def("has_found", &Forest<Index>::has_found);
    m.def(
        "forest_over_ranks",
        [](const ForestArg<Index>& arrays, const BothStarts& starts, int rank,
           std::pair<std::int64_t, std::int64_t> limits, bool prune) {
            return new Forest<Index>(view(arrays), owners<Index>(starts.first, rank),
                                     owners<Index>(starts.second, rank), limits.first,
                                     limits.second, prune);
        },
        Keep<1>());
    bind_kernel<Augmentation<Index>>(m, "Augmentation" + bits)
        .def("paths", &Augmentation<Index>::paths)
        .def("pairs", &Augmentation<Index>::pairs);
    m.def(
        "augmentation_over_ranks",
        [](const ForestArg<Index>& arrays, const Sides<Index>& mates, const BothStarts& starts,
           int rank) {
            return new Augmentation<Index>(view(arrays), mates.first.data(), mates.second.data(),
                                           owners<Index>(starts.first, rank),
                                           owners<Index>(starts.second, rank));
        },
        Keep<1>(), Keep<2>());
    bind_kernel<KarpSipser<Index>>(m, "KarpSipser" + bits).def("edges", &KarpSipser<Index>::edges);
    m.def(
        "karp_sipser_over_ranks",
        [](const SideArg<Index>& rows, const SideArg<Index>& cols, const BothStarts& starts,
           int rank, std::int64_t budget, std::uint64_t seed) {
            return new KarpSipser<Index>(view(rows), view(cols), owners<Index>(starts.first, rank),
                                         owners<Index>(starts.second, rank), budget, seed);
        },
        Keep<1>(), Keep<2>());
    bind_kernel<Transposition<Index>>(m, "Transposition" + bits);
    m.def(
        "transposition_over_ranks",
        [](Starts indptr, In<Index> indices, const BothStarts& starts, int rank,
           Out<std::int64_t> filled, Out<Index> lists, bool fill, std::int64_t budget) {
            return new Transposition<Index>(
                indptr.data(), indices.data(), owners<Index>(starts.first, rank),
                owners<Index>(starts.second, rank), filled.data(), lists.data(), fill, budget);
        },
        Keep<1>(), Keep<2>(), Keep<5>(), Keep<6>());
}

template <class Index>
void bind_decomposition_kernels(nb::module_& m, const std::string& bits) {
    bind_kernel<Trimming<Index>>(m, "Trimming" + bits);
    m.def(
        "trimming_over_ranks",
        [](Starts indptr, In<Index> indices, Out<Index> count, Out<Index> level, Starts starts,
           int rank, std::int64_t budget) {
            return new Trimming<Index>(indptr.data(), indices.data(), count.data(), level.data(),
                                       owners<Index>(starts, rank), budget);
        },
        Keep<1>(), Keep<2>(), Keep<3>(), Keep<4>());
    bind_kernel<Propagation<Index>>(m, "Propagation" + bits);
    m.def(
        "propagation_over_ranks",
        [](Starts indptr, In<Index> indices, Out<Index> label, Starts starts, int rank,
           std::int64_t budget) {
            return new Propagation<Index>(indptr.data(), indices.data(), label.data(),
                                          owners<Index>(starts, rank), budget);
        },
        Keep<1>(), Keep<2>(), Keep<3>());
}

template <class Index>
void bind(nb::module_& m, const std::string& bits) {
    bind_matching_kernels<Index>(m, bits);
    bind_decomposition_kernels<Index>(m, bits);
    m.def("owner_order",
          [](Starts starts, In<Index> keys, Out<std::int64_t> order, Out<std::int64_t> counts) {
              const ReleasedGil released;
              owner_order(owners<Index>(starts, 0), keys.data(), keys.size(), order.data(),
                          counts.data());
          });
    m.def("places_in_lists",
          [](In<Index> keys, Out<std::int64_t> filled, Out<std::int64_t> places) {
              const ReleasedGil released;
              places_in_lists(keys.data(), keys.size(), filled.data(), places.data());
          });
}

}  // namespace

void sparsematch::bind_over_ranks(nb::module_& m) {
    bind<std::int32_t>(m, "32");
    bind<std::int64_t>(m, "64");
}
