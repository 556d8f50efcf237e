"""The README's Python lines run and print what it says, and its links lead somewhere."""

import doctest
import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
TEXT = README.read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(>>> .*?)^```$", TEXT, flags=re.DOTALL | re.MULTILINE)
LINKS = re.findall(r"\]\((?!https?:|#)([^)#]+)", TEXT)


def test_there_is_an_example():
    assert EXAMPLES


@pytest.mark.compiled
@pytest.mark.parametrize("example", EXAMPLES)
def test_example_prints_what_it_says(example):
    report = []
    test = doctest.DocTestParser().get_doctest(example, {}, "README.md", str(README), 0)
    doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert not report, "".join(report)


@pytest.mark.parametrize("link", LINKS)
def test_link_leads_somewhere(link):
    assert (README.parent / link).exists()
