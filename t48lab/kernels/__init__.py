"""Numbers only: compiled rules and searches, no validation, no printing, no pandas.

Numba's disk cache looks at the file of the function it loads, not at the other files that were compiled
into it. So when any kernel's source has changed, all compiled kernels beside it are dropped here.
"""

import contextlib
import hashlib
from pathlib import Path

_HERE = Path(__file__).parent


def sources() -> str:
    """The SHA-256 of all kernels' sources, in hexadecimal digits."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(_HERE.glob("*.py")))).hexdigest()


def drop_stale(folder: Path = _HERE / "__pycache__") -> None:
    """Deletes the compiled kernels in `folder` unless they were made from the sources as they are now."""
    digest = sources()
    stamp = folder / "kernels.sha256"
    with contextlib.suppress(OSError):
        if stamp.exists() and stamp.read_text() == digest:
            return
        folder.mkdir(exist_ok=True)
        for compiled in folder.glob("*.nb[ic]"):
            compiled.unlink(missing_ok=True)
        stamp.write_text(digest)


drop_stale()
