"""A verdict on every claim of five published articles, from games and measurements under the claims' own conditions.

`verdicts` plays, measures and judges; `system_a` to `system_e` hold one rule a claim; `evidence` keeps what was
played and measured; `rulings` turns figures into verdicts; `published` are the authors' programs, to be counted.
"""
