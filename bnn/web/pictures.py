"""A picture file as cells of a grid: scaled to fit, and cut at the middle between its darkest and lightest."""

from __future__ import annotations

import io
import math

import numpy as np
from jaxtyping import Bool
from PIL import Image, UnidentifiedImageError

from bnn.errors import DataError
from bnn.web.limits import MOST_PIXELS

FORMATS = ("PNG", "JPEG")


def cells_of(content: bytes, shape: tuple[int, int], neurons: int) -> Bool[np.ndarray, " neurons"]:
    """Read a picture file as cells that are on or off.

    It is scaled to fit the grid as a whole, in the middle; ink is whatever is rarer, dark or light.

    Parameters
    ----------
    content
        PNG or JPEG.
    shape, neurons
        Rows and columns of the grid, and how many cells of it there are.

    Raises
    ------
    DataError
        No such picture, or one too large.

    Examples
    --------
    >>> file = io.BytesIO()
    >>> Image.fromarray(np.array([[0, 255], [255, 255]], np.uint8)).save(file, "PNG")
    >>> cells_of(file.getvalue(), (2, 2), 4).tolist()
    [True, False, False, False]
    """
    rows, columns = shape
    try:
        with Image.open(io.BytesIO(content), formats=FORMATS) as picture:
            if picture.width * picture.height > MOST_PIXELS:
                raise DataError(
                    f"picture: has {picture.width} x {picture.height} pixels; at most {MOST_PIXELS:,} are read."
                )
            flat = Image.new("RGBA", picture.size, "white")
            flat.alpha_composite(picture.convert("RGBA"))
            grey = flat.convert("L")
    except Image.DecompressionBombError:  # told by the file's head, before it is unpacked
        raise DataError(f"picture: has far too many pixels; at most {MOST_PIXELS:,} are read.") from None
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"picture: is no {' or '.join(FORMATS)} file that can be read; send another.") from None
    scale = min(columns / grey.width, rows / grey.height)
    size = (max(1, math.floor(grey.width * scale)), max(1, math.floor(grey.height * scale)))
    levels = np.asarray(grey.resize(size, Image.Resampling.BOX), np.float64)
    ink = levels < (levels.min() + levels.max()) / 2
    if ink.mean() > 0.5:
        ink = ~ink
    cells = np.zeros(shape, np.bool_)
    top, left = (rows - size[1]) // 2, (columns - size[0]) // 2
    cells[top : top + size[1], left : left + size[0]] = ink
    flat_cells: Bool[np.ndarray, " neurons"] = cells.ravel()[:neurons]
    return flat_cells
