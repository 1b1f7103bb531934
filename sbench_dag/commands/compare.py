"""`sbench compare`: two studies on the same plans, pair by pair."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from sbench_dag.errors import SetupError

HELP = "two studies of the same plans, paired: another policy, another MuJoCo, other code"


def add(commands) -> None:
    parser = commands.add_parser("compare", help=HELP, description=f"{HELP}; docs/comparing.md")
    parser.add_argument("a", metavar="RUN_A", help="a study's name, or the path of a study's folder")
    parser.add_argument("b", metavar="RUN_B", help="another one, perhaps of another SBENCH_HOME")
    parser.add_argument("--json", action="store_true", help="everything, as JSON")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page instead of text")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from sbench_dag.comparison.compare import compare
    from sbench_dag.comparison.page import write_comparison
    from sbench_dag.comparison.runs import open_run
    from sbench_dag.comparison.text import compare_text

    if arguments.html and not arguments.html.absolute().parent.is_dir():
        raise SetupError(f"--html {arguments.html}: there is no folder {arguments.html.absolute().parent}")
    found = compare(open_run(arguments.a), open_run(arguments.b))
    if arguments.html:
        write_comparison(found, arguments.html)
        print(arguments.html)
    if arguments.json:
        print(json.dumps(found, indent=1, default=list))
    elif not arguments.html:
        print(compare_text(found))
    return 0
