"""Agents by name, as plain data: what each is, and its spec. `system_a` to `system_e` are published agents.

A name stands wherever a spec does, also with changes: `system_a:evaluator=a_no_corner`. What the systems do
beside this changes no move: memos and caches (exact, when keyed with the layers left), the order in which
moves are tried (but for ties), and bounds that are never finite. `t48lab.claims.published` counts what those save.
"""

from __future__ import annotations

SYSTEMS: dict[str, tuple[str, str]] = {
    "system_a": (
        "Fixed-corner expectimax, its final weights at 4 layers: two moves and two spawns.",
        "expectimax:depth=2,leaf=state,evaluator=a,order=left/up/right/down",
    ),
    "system_a_3": (
        "System A at 3 layers: its leaves are afterstates.",
        "expectimax:depth=2,leaf=afterstate,evaluator=a,order=left/up/right/down",
    ),
    "system_a_5": (
        "System A at 5 layers.",
        "expectimax:depth=3,leaf=afterstate,evaluator=a,order=left/up/right/down",
    ),
    "system_b": (
        "Monte-Carlo tree search adviser as published: one stored spawn a move, uniform rollouts, raw points.",
        "mcts:simulations=1000,chance=stored,rollout=uniform,reward=raw,exploration=1.41,final=visits",
    ),
    "system_b_text": (
        "System B as its text describes it: rollouts prefer merges.",
        "mcts:simulations=1000,chance=stored,rollout=merge,reward=raw,exploration=1.41,final=visits",
    ),
    "system_b_corrected": (
        "System B with a child for every spawn and points on a scale that suits C.",
        "mcts:simulations=1000,chance=closed,rollout=uniform,reward=points,exploration=1.41,final=visits",
    ),
    "system_c": (
        "Layered expectimax at 4 layers.",
        "expectimax:depth=2,leaf=state,evaluator=c",
    ),
    "system_c_3": (
        "System C at 3 layers.",
        "expectimax:depth=2,leaf=afterstate,evaluator=c",
    ),
    "system_d": (
        "Expectimax by the book, its final agent at 6 layers; a full board is a leaf.",
        "expectimax:depth=3,leaf=state,evaluator=d_final,full_leaf=true",
    ),
    "system_d_timed": (
        "System D with iterative deepening until its time limit.",
        "expectimax:seconds=0.3,leaf=state,evaluator=d_final,full_leaf=true",
    ),
    "system_e": (
        'The agent called "A*", as published: an expectation in which no tile spawns after the first move.',
        "bestfirst:mode=published,depth=3,evaluator=e",
    ),
    "system_e_open": (
        "System E's evaluator in a search that does keep an open list.",
        "bestfirst:mode=open,evaluator=e",
    ),
}
