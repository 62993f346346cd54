import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cg_pipeline.gaps.placement import Box, Label, place_label

FRAME = Box(0.0, 0.0, 200.0, 100.0)
SIZE = (40.0, 10.0)
NOWHERE = np.empty((0, 2))


def beside(x: float, y: float, dots: np.ndarray = NOWHERE, taken: tuple[Label, ...] = ()) -> Label | None:
    return place_label(np.array([x, y], dtype=float), SIZE, dots, taken, FRAME)


def test_a_lonely_dot_has_its_label_at_its_right():
    assert beside(50, 50).box == Box(57.0, 45.0, 97.0, 55.0)


def test_at_the_right_edge_it_stands_at_the_left():
    assert beside(190, 50).box == Box(143.0, 45.0, 183.0, 55.0)


def test_a_dot_or_a_label_in_the_way_moves_it():
    first = beside(50, 50)
    assert beside(50, 50, dots=np.array([[60.0, 50.0]])).box == Box(3.0, 45.0, 43.0, 55.0)
    assert not beside(52, 52, taken=(first,)).box.overlaps(first.box)


def test_its_line_passes_no_other_dot():
    row = np.array([[50.0, 50.0], [54.0, 50.0], [46.0, 50.0]])
    assert beside(50, 50, dots=row).box.bottom > 50


def test_without_room_there_is_none():
    everywhere = np.array([[x, y] for x in range(0, 200, 4) for y in range(0, 100, 4)], dtype=float)
    assert beside(50, 50, dots=everywhere) is None


@given(
    dots=st.lists(st.tuples(st.floats(0, 200), st.floats(0, 100)), min_size=1, max_size=30),
)
def test_labels_lie_on_nothing(dots: list[tuple[float, float]]):
    places = np.array(dots)
    taken: list[Label] = []
    for dot in places:
        if label := place_label(dot, SIZE, places, taken, FRAME):
            assert label.box.within(FRAME)
            assert not label.box.holds(places).any()
            assert not any(label.box.overlaps(other.box) for other in taken)
            taken.append(label)
