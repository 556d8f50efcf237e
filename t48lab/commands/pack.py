"""`t48lab pack`: make a trained net small, for searches and for sending it around."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("pack")
@click.argument("net", metavar="NET", type=click.Path(path_type=Path))
@click.option("--bits", type=int, default=16, show_default=True, help="Bits of an entry: 16 or 8.")
@click.option("--keep", type=float, default=1.0, show_default=True, help="Share of the learnt entries that stay.")
@click.option("--out", type=click.Path(path_type=Path), help="The file to write (default: NET with .packed.net).")
def command(net: Path, bits: int, keep: float, out: Path | None) -> None:
    """Pack a trained net, a training's checkpoint.net for example.

    Entries that matter least are dropped first; the packed file can be named wherever an evaluator is.
    """
    from t48lab.learning import open_net, open_packed, pack_net

    path = pack_net(open_net(net), out or net.with_suffix(".packed.net"), bits, keep)
    packed = open_packed(path)
    click.echo(f"{path}: {packed.facts['kept']} entries, {path.stat().st_size} bytes, {packed.digest[:16]}")
