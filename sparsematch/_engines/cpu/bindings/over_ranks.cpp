// Bindings over ranks: kernels that Python steps, exchanging messages; sorts of elements to send.
#include <nanobind/stl/string.h>

#include "bindings/nanobind_helpers.hpp"
#include "decomposition/over_ranks/propagation.hpp"
#include "decomposition/over_ranks/trimming.hpp"
#include "matching/over_ranks/augment.hpp"
#include "matching/over_ranks/karp_sipser.hpp"
#include "matching/over_ranks/transposition.hpp"

namespace sparsematch {

using namespace over_ranks;

// Where the vertices of each rank begin, and the own rank.
template <class Index> struct Passed<Owners<Index>> {
    using Given = std::pair<In<std::int64_t>, int>;
    static Owners<Index> get(const Given& given) {
        const auto& [starts, rank] = given;
        return {starts.data(), static_cast<int>(starts.size()) - 1, rank};
    }
};
template <class Index> struct Passed<const Owners<Index>&> : Passed<Owners<Index>> {};

template <class Index> using Lists = std::pair<In<std::int64_t>, In<Index>>;  // indptr and indices

// Lists; mates, trees, parent and before; leaf.
template <class Index> struct Passed<const ForestArrays<Index>&> {
    using Given =
        std::tuple<Lists<Index>, std::tuple<Sides<const Index>, Sides<Index>, Sides<Index>>,
                   Out<Index>>;
    static ForestArrays<Index> get(const Given& given) {
        const auto& [lists, pairs, leaf] = given;
        const auto& [mates, trees, links] = pairs;
        return {lists.first.data(),  lists.second.data(), mates.first.data(),
                mates.second.data(), trees.first.data(),  trees.second.data(),
                links.first.data(),  links.second.data(), leaf.data()};
    }
};

// Lists, mate, and degree and last neighbour of each vertex.
template <class Index> struct Passed<const KarpSipserSide<Index>&> {
    using Given = std::tuple<Lists<Index>, Out<Index>, Out<Index>>;
    static KarpSipserSide<Index> get(const Given& given) {
        using Residual = typename KarpSipserSide<Index>::Residual;
        static_assert(sizeof(Residual) == 2 * sizeof(Index));
        const auto& [lists, mate, residual] = given;
        return {lists.first.data(), lists.second.data(), mate.data(),
                reinterpret_cast<Residual*>(residual.data())};
    }
};

namespace {

// Methods of every kernel: Kernel in mpi/core/exchange.py. Its arrays are valid until it steps.
template <class Kernel> nb::class_<Kernel> bind_kernel(nb::module_& m, const std::string& name) {
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

// Makes a kernel, which keeps alive what it is given, by the parameters of its constructor.
template <class Kernel, class... Parameters> void def_maker(nb::module_& m, const char* name) {
    [&]<std::size_t... k>(std::index_sequence<k...>) {
        m.def(
            name,
            [](const typename Passed<Parameters>::Given&... given) {
                return new Kernel(Passed<Parameters>::get(given)...);
            },
            nb::keep_alive<0, k + 1>()...);
    }(std::index_sequence_for<Parameters...>());
}

template <class Index> void bind(nb::module_& m, const std::string& bits) {
    using Rank = Owners<Index>;
    using Number = std::int64_t;
    using Arrays = const ForestArrays<Index>&;
    using Rows = const KarpSipserSide<Index>&;
    bind_kernel<Forest<Index>>(m, "Forest" + bits)
        .def("plant", &Forest<Index>::plant)
        .def("release", [](Forest<Index>& self, In<bool> done) { self.release(done.data()); })
        .def("roots",
             [](const Forest<Index>& self) { return owned(std::vector<Index>(self.roots())); })
        .def("edges", &Forest<Index>::edges)
        .def("has_found", &Forest<Index>::has_found);
    def_maker<Forest<Index>, Arrays, Rank, Rank, Number, Number, bool>(m, "forest_over_ranks");
    bind_kernel<Augmentation<Index>>(m, "Augmentation" + bits)
        .def("paths", &Augmentation<Index>::paths)
        .def("pairs", &Augmentation<Index>::pairs);
    def_maker<Augmentation<Index>, Arrays, Index*, Index*, Rank, Rank>(m,
                                                                       "augmentation_over_ranks");
    bind_kernel<KarpSipser<Index>>(m, "KarpSipser" + bits).def("edges", &KarpSipser<Index>::edges);
    def_maker<KarpSipser<Index>, Rows, Rows, Rank, Rank, Number, std::uint64_t>(
        m, "karp_sipser_over_ranks");
    bind_kernel<Transposition<Index>>(m, "Transposition" + bits);
    def_maker<Transposition<Index>, const Number*, const Index*, Rank, Rank, Number*, Index*, bool,
              Number>(m, "transposition_over_ranks");
    bind_kernel<Trimming<Index>>(m, "Trimming" + bits);
    def_maker<Trimming<Index>, const Number*, const Index*, Index*, Index*, Rank, Number>(
        m, "trimming_over_ranks");
    bind_kernel<Propagation<Index>>(m, "Propagation" + bits);
    def_maker<Propagation<Index>, const Number*, const Index*, Index*, Rank, Number>(
        m, "propagation_over_ranks");
    m.def("owner_order", Bound<owner_order<Index>>::alone);
    m.def("places_in_lists", Bound<places_in_lists<Index>>::alone);
}

}  // namespace

void bind_over_ranks(nb::module_& m) {
    bind<std::int32_t>(m, "32");
    bind<std::int64_t>(m, "64");
}

}  // namespace sparsematch
