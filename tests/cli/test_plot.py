"""Pictures: what is drawn is the form, small and large, and the file is a picture."""

import io
import sys
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from sparsematch import block_triangular_form, explain_singularity
from sparsematch.plot import check_picture, spy_blocks, spy_conflicts

pytest.importorskip("matplotlib")

CHAIN = sp.csr_array(np.triu(np.ones((5, 5)))[::-1])
ALL_PARTS = sp.csr_array(
    [[1, 1, 1, 0, 0], [0, 0, 0, 1, 1], [0, 0, 0, 1, 1], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0]]
)


def image_of(ax):
    """The entries, without the strips below them; a countable cell has clear edges."""
    (image,) = [image for image in ax.get_images() if image.get_zorder() == 2]
    opacity = image.to_rgba(image.get_array())[..., 3]
    n_rows = round(ax.get_ylim()[0] + 0.5)
    if opacity.shape[0] <= n_rows:
        return opacity
    inside, step = opacity.shape[0] // n_rows // 2, opacity.shape[0] // n_rows
    assert not opacity[::step].any()
    return opacity[inside::step, inside::step]


def strips_of(ax):
    """What each strip shades: the places along its side."""
    images = [image.get_array()[..., 3] for image in ax.get_images() if image.get_zorder() < 2]
    return [np.flatnonzero(opacity.ravel()).tolist() for opacity in images]


def outlines_of(ax):
    _, collection = ax.collections  # their faces lie under the entries, their edges above
    return [path.get_extents().extents for path in collection.get_paths()]


def legend_of(figure):
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def test_small_matrix_is_drawn_entry_by_entry():
    form = block_triangular_form(CHAIN)
    before, after = spy_blocks(CHAIN, form).axes
    np.testing.assert_array_equal(image_of(before) > 0, CHAIN.toarray() > 0)
    permuted = CHAIN[form.row_perm][:, form.col_perm].toarray()
    np.testing.assert_array_equal(image_of(after) > 0, permuted > 0)
    outlines = [[k - 0.5, k - 0.5, k + 0.5, k + 0.5] for k in range(5)]
    np.testing.assert_allclose(outlines_of(after), outlines)


def test_titles_and_legend_tell_the_sizes():
    figure = spy_blocks(ALL_PARTS, title="all three")
    before, after = figure.axes
    assert before.get_title() == "as given: 5 x 5, 7 entries"
    assert after.get_title() == "block form: 3 blocks, structural rank 3"
    assert figure.get_suptitle() == "all three"
    assert legend_of(figure) == [
        "under-determined (horizontal): 1 x 3",
        "well-determined (square): 2 x 2",
        "over-determined (vertical): 2 x 0",
    ]
    form = block_triangular_form(ALL_PARTS)
    assert labels_of(after.yaxis) == [str(k) for k in form.row_perm]
    assert labels_of(after.xaxis) == [str(k) for k in form.col_perm]


def test_large_matrix_is_drawn_by_density():
    n = 5000
    A = sp.csr_array(sp.diags_array([np.ones(n), np.ones(n - 1)], offsets=[0, 1]))
    figure = spy_blocks(A)
    cells = image_of(figure.axes[0])
    assert max(cells.shape) < n / 4
    np.testing.assert_array_equal(np.diagonal(cells) > 0.3, True)
    assert np.count_nonzero(cells) < 3 * len(cells)
    assert outlines_of(figure.axes[1]) == []
    assert "5,000 small blocks not outlined" in legend_of(figure)


def test_draws_into_a_figure_of_the_user():
    figure = pytest.importorskip("matplotlib.figure").Figure(figsize=(12, 6))
    part, _ = figure.subfigures(2, 1)
    assert spy_blocks(CHAIN, figure=part) is part
    assert len(part.axes) == 2
    figure.canvas.draw()


def test_what_is_of_another_matrix():
    A, message = sp.eye_array(4, format="csr"), r"is of a matrix of shape \(5, 5\), A has shape \(4"
    with pytest.raises(ValueError, match=f"form {message}"):
        spy_blocks(A, block_triangular_form(CHAIN))
    with pytest.raises(ValueError, match=f"why {message}"):
        spy_conflicts(A, explain_singularity(CHAIN))


@pytest.mark.parametrize(
    ("draw", "name", "kind"),
    [(spy_blocks, "form", "BlockForm"), (spy_conflicts, "why", "Explanation")],
)
def test_what_is_of_another_kind(draw, name, kind):
    with pytest.raises(TypeError, match=f"{name} must be of type {kind}, not str"):
        draw(sp.eye_array(4, format="csr"), "block form")


def labels_of(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def test_conflicts_are_drawn_with_their_names():
    A = sp.csr_array([[1, 1, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 1]])
    why = explain_singularity(A, list("abcd"), list("wxyz"))
    figure = spy_conflicts(A, why, title="names")
    whole, over, under = figure.axes
    assert whole.get_title() == "4 x 4, structural rank 3"
    assert over.get_title() == "3 equations, 2 variables"
    assert under.get_title() == "2 variables, 1 equation"
    assert (labels_of(over.yaxis), labels_of(over.xaxis)) == (["a", "b", "c"], ["w", "x"])
    assert (labels_of(under.yaxis), labels_of(under.xaxis)) == (["d"], ["y", "z"])
    np.testing.assert_array_equal(image_of(over) > 0, [[1, 1], [1, 0], [1, 1]])
    assert strips_of(whole) == [[0, 1, 2], [2, 3]]
    assert (labels_of(whole.yaxis), labels_of(whole.xaxis)) == (list("abcd"), list("wxyz"))
    assert legend_of(figure) == [
        "over-determined: 3 equations of a conflict",
        "under-determined: 2 variables of a conflict",
    ]
    assert figure.get_suptitle() == "names"


@pytest.mark.parametrize("shape", [(0, 0), (0, 4), (4, 0), (3, 3), (2, 900), (900, 2), (1, 1)])
def test_empty_and_long(shape, tmp_path):
    for A in (sp.csr_array(shape), sp.csc_array(np.ones(shape))):
        figure = spy_conflicts(A)
        why = explain_singularity(A)
        scales = [ax for ax in figure.axes if ax.get_label() == "<colorbar>"]
        parts = why.overdetermined, why.underdetermined
        worth = sum(min(len(part) - part.n_empty, 1) for part in parts)
        assert len(figure.axes) - len(scales) == 1 + worth
        for drawn in (figure, spy_blocks(A)):
            drawn.savefig(tmp_path / "a.png")
            assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert all(len(labels_of(ax.yaxis)) < 30 for ax in figure.axes)


def test_what_has_no_entries_is_marked_and_conflicts_with_entries_are_drawn():
    A = sp.csr_array([[0, 0, 0], [1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 0]])
    figure = spy_conflicts(A)
    whole, *close = figure.axes
    assert [ax.get_title() for ax in close] == ["2 equations, 1 variable"] * 2
    assert strips_of(whole) == [[0, 5], [2], [1, 2], [3, 4]]
    assert legend_of(figure)[:2] == ["2 equations without entries", "1 variable without entries"]
    assert spy_conflicts(sp.csr_array((3, 3))).axes[1:] == []


def test_names_are_drawn_as_they_are_and_long_ones_cut():
    A = sp.csr_array([[1, 0, 0], [1, 0, 0], [1, 1, 1]])
    long = "fs.reactor.heat_balance.of_the_second_stage[0.0,Liq]"
    why = explain_singularity(A, ["c$a^{$", long, "c"], ["T", "p$", "q$"])
    figure = spy_conflicts(A, why)
    figure.savefig(io.BytesIO())  # what is no mathematics is not read as such
    labels = [label.get_text() for label in figure.axes[1].get_yticklabels()]
    assert labels == ["c$a^{$", "fs.reactor.heat_…d_stage[0.0,Liq]"]


def test_a_million_conflict_rows_are_one_image():
    n = 200_000
    A = sp.csr_array((np.ones(n), (np.arange(n), np.zeros(n, int))), shape=(n, n))
    whole, over = spy_conflicts(A).axes[:2]
    assert over.get_title() == "2 equations, 1 variable"
    assert len(whole.get_children()) < 30
    assert all(len(image.get_array().ravel()) <= 4 * 400**2 for image in whole.get_images())


def test_a_part_too_small_to_be_seen_is_enlarged():
    square = sp.eye_array(1000) + sp.eye_array(1000, k=1)
    A = sp.csr_array(sp.block_diag([square, np.ones((21, 6))]))
    figure = spy_blocks(A)
    _, after, enlarged = figure.axes[:3]
    assert enlarged.get_title() == "over-determined: 21 x 6"
    np.testing.assert_array_equal(image_of(enlarged) > 0, np.ones((21, 6), bool))
    ((x,), (y,)) = after.lines[0].get_data()
    assert (x, y) == (1002.5, 1010)


def test_a_part_that_is_enlarged_has_the_numbers_of_the_matrix():
    """Whole ones, also where there is one column."""
    A = sp.eye_array(1000, format="lil")
    A[300, [300, 700]] = 0, 1
    enlarged = spy_blocks(sp.csr_array(A)).axes[2:4]
    numbers = [
        {axis.get_major_formatter()(place, 0) for place in axis.get_majorticklocs()} - {""}
        for ax in enlarged
        for axis in (ax.yaxis, ax.xaxis)
    ]
    assert {"300", "700"} in numbers
    assert {"700"} in numbers


def test_ink_grows_with_density():
    n, rng = 4000, np.random.default_rng(3)
    places = rng.integers(0, n, (2, 30 * n))
    spread = sp.csr_array((np.ones(30 * n), places), shape=(n, n))
    shades = image_of(spy_blocks(spread).axes[0])
    assert np.mean(shades[shades > 0]) < 0.5  # even density is light
    assert image_of(spy_blocks(sp.eye_array(n, format="csr")).axes[0]).max() == 1
    scale = next(ax for ax in spy_blocks(spread).axes if ax.get_label() == "<colorbar>")
    assert scale.get_xlabel() == "entries in a cell of 10 x 10"


def test_thousands_are_separated_in_every_picture():
    A = sp.csr_array((np.ones(6000), (np.arange(6000), np.zeros(6000, int))), shape=(6000, 6000))
    for figure in (spy_conflicts(A), spy_blocks(A)):
        figure.canvas.draw()
        assert "1,500" in labels_of(figure.axes[0].xaxis)
        assert "1,500" in labels_of(figure.axes[0].yaxis)


@pytest.mark.parametrize(
    "shape", [(1_000_000, 500_000), (1_000_000, 1000), (1000, 10_000_000)], ids=str
)
def test_numbers_at_the_axes_do_not_overlap(shape):
    A = sp.csr_array((np.ones(2), ([0, 1], [0, 0])), shape=shape)
    for figure in (spy_conflicts(A), spy_blocks(A)):
        figure.canvas.draw()
        for ax in figure.axes[:2]:
            boxes = [label.get_window_extent() for label in ax.get_xticklabels()]
            boxes = sorted((box.x0, box.x1) for box in boxes)
            assert all(one[1] < other[0] for one, other in pairwise(boxes)), boxes


def test_conflicts_of_a_few_lines_lie_above_dense_entries():
    n, rng = 4000, np.random.default_rng(3)
    places = rng.integers(0, n - 2, (2, 30 * n))
    places = np.c_[places, [[n - 2, n - 1], [5, 5]]]
    A = sp.csr_array((np.ones(30 * n + 2), places), shape=(n, n))
    entries, *strips = spy_conflicts(A).axes[0].get_images()
    assert max(strip.zorder for strip in strips) > entries.zorder


def test_dependences_are_drawn_with_their_factors_and_values():
    A = sp.csr_array([[1, 2, 0, 0], [2, 4, 0, 0], [0, 0, 3, 0], [0, 1, 0, 5]])
    why = explain_singularity(A, ["a", "b=2a", "c", "d"], list("wxyz"), numeric=True)
    figure = spy_conflicts(A, why)
    whole, dependent, free = figure.axes
    assert whole.get_title() == "4 x 4, rank 3 with these values"
    assert (dependent.get_title(), free.get_title()) == (
        "2 equations, dependent",
        "3 variables, free",
    )
    assert labels_of(dependent.yaxis) == ["1 * a", "-0.5 * (b=2a)"]
    assert labels_of(dependent.xaxis) == ["w", "x"]
    assert sorted(text.get_text() for text in dependent.texts) == ["1", "2", "2", "4"]
    assert labels_of(free.xaxis) == ["1 * w", "-0.5 * x", "0.1 * z"]
    assert strips_of(whole) == [[0, 1], [0, 1, 3]]
    assert legend_of(figure) == ["dependent: 2 equations", "free: 3 variables"]


def test_all_dependences_are_marked_and_the_first_is_drawn():
    A = sp.csr_array([[1, 2, 0, 0], [2, 4, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]])
    figure = spy_conflicts(A, explain_singularity(A, numeric=True))
    whole, dependent, free = figure.axes
    assert dependent.get_title() == "2 equations, dependent (1 of 2)"
    assert free.get_title() == "2 variables, free (1 of 2)"
    assert strips_of(whole) == [[0, 1, 2, 3]] * 2
    assert legend_of(figure) == ["dependent: 4 equations", "free: 4 variables"]


def test_a_large_dependence_is_drawn_and_nonsingular_numbers_are_said():
    n = 40
    path = sp.diags_array([-np.ones(n - 1), -np.ones(n - 1)], offsets=[-1, 1], shape=(n, n))
    laplacian = sp.csr_array(path - sp.diags_array(path.sum(axis=1)))
    why = explain_singularity(laplacian, numeric=True)
    _, dependent, _ = spy_conflicts(laplacian, why).axes
    np.testing.assert_array_equal(image_of(dependent) > 0, laplacian.toarray() != 0)
    (whole,) = spy_conflicts(CHAIN).axes
    assert whole.get_title() == "5 x 5, structural rank 5: no conflict"
    (whole,) = spy_conflicts(CHAIN, explain_singularity(CHAIN, numeric=True)).axes
    assert whole.get_title() == "5 x 5, rank 5 with these values"


def test_kind_of_picture():
    check_picture("a.png")
    check_picture("A.PDF")
    with pytest.raises(ValueError, match=r"'xyz' is not a kind of picture; the extensions .*\.png"):
        check_picture("a.xyz")
    with pytest.raises(ValueError, match="the name has no extension"):
        check_picture("png")


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match="python -m pip install matplotlib"):
        spy_blocks(CHAIN)
