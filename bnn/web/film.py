"""Recalls of one cue as an animation: their pictures side by side, above what falls."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from bnn.plots.style import BLUE, INK, PALE, new_figure, short, styled
from bnn.web.course import Course

PICTURES, PAUSE, LAST = 40, 120, 1500
"""Pictures at most; milliseconds of each, and of the last."""
DOTS, COLOURS = 80, 64
"""Dots per inch, and colours of a picture."""


@styled()
def film(courses: Sequence[Course], shape: tuple[int, int], progress: Callable[[int, int], None]) -> bytes:
    """Draw recalls as a GIF.

    Parameters
    ----------
    courses
        Recalls of one cue by one rule or two.
    shape
        Rows and columns of the picture.
    progress
        Called after each picture with the number drawn and of all.
    """
    longest = max(map(len, courses))
    chosen = np.unique(np.linspace(0, longest - 1, PICTURES).round().astype(int)).tolist()
    figure, show = _drawn(courses, shape)
    pictures = []
    for number, moment in enumerate(chosen):
        show(moment)
        picture = io.BytesIO()
        figure.savefig(picture, format="png", dpi=DOTS)
        figure.set_layout_engine("none")  # the first picture has found each thing's place
        pictures.append(Image.open(picture).convert("RGB").quantize(COLOURS))
        progress(number + 1, len(chosen))
    file = io.BytesIO()
    pauses = [PAUSE] * (len(pictures) - 1) + [LAST]
    pictures[0].save(file, "GIF", save_all=True, append_images=pictures[1:], duration=pauses, loop=0)
    return file.getvalue()


def _drawn(courses: Sequence[Course], shape: tuple[int, int]) -> tuple[Figure, Callable[[int], None]]:
    """A figure of all courses, and what makes it show a moment."""
    figure = new_figure(4.2 * len(courses), 6.0)
    tops, bottoms = figure.subplots(2, len(courses), height_ratios=[2, 1], squeeze=False)
    shown = []
    for course, top, bottom in zip(courses, tops, bottoms, strict=True):
        image = top.imshow(np.zeros(shape), cmap="gray_r", vmin=0.0, vmax=1.0)
        top.set(xticks=[], yticks=[])
        bottom.plot(course.falling, color=PALE, linewidth=3)
        (line,) = bottom.plot([], [], color=BLUE)
        (dot,) = bottom.plot([], [], "o", color=BLUE, markeredgecolor=INK)
        bottom.set(xlabel="step", ylabel=f"{course.what} ({course.unit})")
        shown.append((course, image, top.set_title(course.rule, fontsize=11), line, dot))

    def show(moment: int) -> None:
        for course, image, title, line, dot in shown:
            now = min(moment, len(course) - 1)
            cells = np.full(math.prod(shape), np.nan)
            cells[: course.on.shape[1]] = course.on[now]
            image.set_data(cells.reshape(shape))
            title.set_text(f"{course.rule}: {short(course.moments[now])}")
            line.set_data(range(now + 1), course.falling[: now + 1])
            dot.set_data([now], [course.falling[now]])

    return figure, show
