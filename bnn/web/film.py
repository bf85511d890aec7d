"""Recalls of one cue as an animation: their pictures side by side, above what falls."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Sequence

import numpy as np
from PIL import Image

from bnn.plots.style import BLUE, INK, PALE, new_figure, short, styled
from bnn.web.course import Course

PICTURES, PAUSE, LAST = 40, 120, 1500
"""Pictures at most; milliseconds of each, and of the last."""


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
    pictures = []
    for number, moment in enumerate(chosen):
        pictures.append(_picture(courses, shape, moment))
        progress(number + 1, len(chosen))
    file = io.BytesIO()
    pauses = [PAUSE] * (len(pictures) - 1) + [LAST]
    pictures[0].save(file, "GIF", save_all=True, append_images=pictures[1:], duration=pauses, loop=0)
    return file.getvalue()


@styled()
def _picture(courses: Sequence[Course], shape: tuple[int, int], moment: int) -> Image.Image:
    """One moment."""
    figure = new_figure(4.2 * len(courses), 6.0)
    tops, bottoms = np.atleast_2d(figure.subplots(2, len(courses), height_ratios=[2, 1], squeeze=False))
    for course, top, bottom in zip(courses, tops, bottoms, strict=True):
        now = min(moment, len(course) - 1)
        cells = np.full(math.prod(shape), np.nan)
        cells[: course.on.shape[1]] = course.on[now]
        top.imshow(cells.reshape(shape), cmap="gray_r", vmin=0.0, vmax=1.0)
        top.set_title(f"{course.rule}: {short(course.moments[now])}", fontsize=11)
        top.set(xticks=[], yticks=[])
        bottom.plot(course.falling, color=PALE, linewidth=3)
        bottom.plot(course.falling[: now + 1], color=BLUE)
        bottom.plot([now], [course.falling[now]], "o", color=BLUE, markeredgecolor=INK)
        bottom.set(xlabel="step", ylabel=f"{course.what} ({course.unit})")
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=80)
    return Image.open(file).convert("RGB").quantize(64)
