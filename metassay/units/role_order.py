"""The order of roles in a text: points by a sentence's place and the role before it."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Reals = npt.NDArray[np.float64]


class Order(NamedTuple):
    """Points of each role, by place and neighbour; columns are `ROLES`.

    `by_fifth`, 5 x roles: by the fifth of the text that has the sentence. `first`,
    `last`: added for these sentences. `by_previous`, roles x roles: from the role of a
    row to that of a column, in the next sentence.
    """

    by_fifth: Reals
    first: Reals
    last: Reals
    by_previous: Reals


ANY_TEXT = Order(
    by_fifth=np.array(
        [
            # background, objective, method, result, conclusion, other
            [1.9, 0.4, 0.2, -2.0, -4.0, -3.0],  # first fifth
            [1.0, 0.6, 0.8, -1.3, -3.5, -3.5],  # second fifth
            [0.3, 0.2, 1.2, -0.4, -2.8, -3.5],  # third fifth
            [-0.5, -0.5, 1.0, 0.4, -2.0, -3.0],  # fourth fifth
            [-1.2, -1.0, 0.4, 0.9, -0.6, -2.2],  # last fifth
        ]
    ),
    first=np.array([1.4, 0.0, -1.0, -2.0, -3.0, -0.5]),
    last=np.array([-1.0, -0.5, -0.7, 0.4, 2.2, 0.6]),
    by_previous=np.array(
        [
            # background, objective, method, result, conclusion, other
            [0.8, 0.4, 0.0, -1.2, -2.0, -1.5],  # after background
            [-1.2, 0.2, 0.8, -0.4, -1.5, -2.0],  # after objective
            [-1.8, -1.0, 0.8, 0.2, -0.8, -1.6],  # after method
            [-2.6, -1.6, -0.8, 0.8, 0.2, -0.6],  # after result
            [-3.0, -2.0, -2.0, -1.5, 1.2, 0.0],  # after conclusion
            [-1.0, -1.5, -1.5, -1.0, -0.5, 1.5],  # after other
        ]
    ),
)

# Reports of studies keep this order much more strictly: results fill the second half.
REPORT_OF_STUDY = Order(
    by_fifth=np.array(
        [
            # background, objective, method, result, conclusion, other
            [1.9, 0.7, 0.2, -2.4, -4.0, -3.0],  # first fifth
            [0.7, 0.6, 1.1, -0.8, -3.5, -3.5],  # second fifth
            [-0.4, -0.3, 1.0, 0.2, -2.6, -3.5],  # third fifth
            [-1.3, -1.2, 0.4, 1.0, -1.5, -3.0],  # fourth fifth
            [-2.0, -1.8, -0.5, 1.1, 0.4, -1.7],  # last fifth
        ]
    ),
    first=np.array([1.4, 0.3, -0.8, -2.0, -3.0, -0.5]),
    last=np.array([-1.0, -0.5, -0.9, 0.2, 2.4, 0.6]),
    by_previous=np.array(
        [
            # background, objective, method, result, conclusion, other
            [0.8, 0.5, 0.3, -1.2, -2.4, -1.9],  # after background
            [-1.3, 0.0, 1.1, -0.2, -1.9, -2.0],  # after objective
            [-2.4, -1.8, 0.8, 0.4, -1.3, -1.9],  # after method
            [-2.9, -2.6, -1.2, 0.9, 0.4, -0.8],  # after result
            [-3.0, -2.8, -2.8, -2.0, 1.2, 0.0],  # after conclusion
            [-1.0, -1.5, -1.5, -1.0, -0.5, 1.5],  # after other
        ]
    ),
)


def find_best_sequence(points: Reals, order: Order) -> list[int]:
    """Return the roles of a text's sentences, as places in `ROLES`, that get most points.

    `points`: sentences x roles, of each sentence alone. A text of one sentence has no
    place in an order. Of equal sequences, that with earlier roles is chosen.
    """
    count = len(points)
    if count == 1:
        return _find_best_path(points, order.by_previous)
    shares = np.arange(count) / (count - 1)
    by_place = order.by_fifth[np.searchsorted([0.2, 0.4, 0.6, 0.8], shares, "right")]
    by_place[0] += order.first
    by_place[-1] += order.last
    return _find_best_path(points + by_place, order.by_previous)


def _find_best_path(points: Reals, by_previous: Reals) -> list[int]:
    """Return the best path through sentences x roles (Viterbi)."""
    total = points[0]
    came_from: list[npt.NDArray[np.intp]] = []
    for row in points[1:]:
        ways = total[:, None] + by_previous
        came_from.append(ways.argmax(0))
        total = ways.max(0) + row
    path = [int(total.argmax())]
    for previous in reversed(came_from):
        path.append(int(previous[path[-1]]))
    return path[::-1]
