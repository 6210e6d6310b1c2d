from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
from sympy import Rational

from pellucid.show import Document, Drawing, Figure, Series
from pellucid.show.document import formula, remark, result, sentence, step, table
from pellucid.show.notation import Script, Words, fenced, math, total
from pellucid.show.text_layout import width

NASTY = r"a_b & 50% <c> $x$ #1 {d} ~e^f \g | `h` *i*"


def document(name=NASTY):
    long_sum = total([Script(fenced(math(Rational(i, 7), "−", Rational(3, 11))), above=math(2)) for i in range(12)])
    return Document(
        f"Workings of {name}",
        (table([math("i"), name], [[math(1), Rational(1, 2)]], summary=[["sum", Rational(1, 2)]], caption=name),),
        (
            step(
                f"Step of {name}",
                sentence(f"Here {name} is ", math("x_1"), "."),
                formula("RSS =", long_sum, "=", Rational(1, 3)),
                result("ŷ =", 2, Words(name)),
                remark("Mind ", math("x̄"), "."),
            ),
            step("Tree", Drawing("a · b\n├─ a\n└─ −b", '<svg xmlns="http://www.w3.org/2000/svg"/>', name)),
            step("Picture", Figure((Series((0, 1), (1, 2)), Series((0, 1), (1, 1), True, name)), name, name, name)),
        ),
        {"coef_": [2]},
    )


def test_text_fits_eighty_columns_and_keeps_names_as_they_are():
    plain = document("speed")
    assert max(map(width, plain.text().splitlines())) <= 80
    assert NASTY in document().text()


def test_steps_are_numbered():
    for printed in (document().text(), document().markdown(), document().latex(), document().html()):
        assert "Step 1." in printed
        assert "Step 2." in printed


def test_html_is_well_formed_and_brings_everything_along():
    page = document().html()
    root = ET.fromstring(re.sub(r"<!DOCTYPE html>|<meta[^>]*>", "", page))
    assert NASTY in "".join(root.itertext())
    assert "<script" not in page
    assert not re.search(r"(src|href)=|url\(|@import", page)


def test_a_hostile_name_cannot_add_html():
    page = document("</h1><script>alert(1)</script>").html()
    assert "<script" not in page


def test_latex_escapes_what_is_special():
    page = document().latex()
    assert r"a\_b \& 50\% \textless{}c\textgreater{} \$x\$ \#1 \{d\}" in page
    assert page.startswith(r"\documentclass")
    assert page.rstrip().endswith(r"\end{document}")
    assert page.count(r"\begin{") == page.count(r"\end{")


def test_names_in_formulas_are_escaped_in_ways_that_web_pages_read_too():
    assert r"\boxed{\hat{y} = 2 \;\text{a}\_\text{b}\%}" in document("a_b%").markdown()


def test_latex_names_letters_its_fonts_lack():
    assert r"\texttt{U+6570}" in document("数").latex()
    assert "Größe" in document("Größe").latex()


def test_long_formulas_are_aligned_at_their_relations():
    page = document().latex()
    assert r"\begin{align*}" in page
    assert r"\begin{aligned}" in document().markdown()
    assert "displaystyle" in document().html()


def test_a_continued_line_starts_with_an_operator_between_terms():
    terms = total([Rational(-111, 1000)] * 12)
    lines = Document("t", (formula("s =", terms),), ()).text().splitlines()
    assert [line.strip()[:5] for line in lines[3:5]] == ["s = −", "− 0.1"]


def test_markdown_escapes_what_is_special():
    page = document().markdown()
    assert r"# Workings of a\_b &amp; 50% &lt;c&gt; \$x\$ \#1" in page
    assert "$$\n\\boxed{" in page


def test_markdown_tables_survive_bars_in_names_and_formulas():
    page = Document("t", (table(["a|b", math("c")], [["x", fenced("w", "||")]]),), ()).markdown()
    rows = [line for line in page.splitlines() if line.startswith("|")]
    assert [len(re.findall(r"(?<!\\)\|", row)) for row in rows] == [3, 3, 3]


def test_a_document_prints_as_text_and_shows_as_html_in_notebooks():
    assert str(document()) == document().text()
    assert document()._repr_html_().startswith("<style>")
    assert document()._repr_markdown_() == document().markdown()
    assert repr(document("speed")) == "Document('Workings of speed', 3 steps)"


@pytest.mark.parametrize(
    ("suffix", "format_"), [(".txt", "text"), (".md", "markdown"), (".tex", "latex"), (".html", "html")]
)
def test_the_suffix_chooses_the_printer(tmp_path, suffix, format_):
    path = document().save(tmp_path / f"work{suffix}")
    assert path.read_text(encoding="utf-8") == document().printed(format_)


def test_a_failed_save_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = document("first").save(tmp_path / "work.txt")
    monkeypatch.setattr("pathlib.Path.replace", lambda self, target: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        document("second").save(path)
    assert [file.name for file in tmp_path.iterdir()] == ["work.txt"]
    assert "first" in path.read_text(encoding="utf-8")


def test_refuses_an_unknown_suffix_or_format(tmp_path):
    with pytest.raises(ValueError, match=r"path must end in one of .*, got .*work\.pdf"):
        document().save(tmp_path / "work.pdf")
    with pytest.raises(ValueError, match=r"format must be one of .*, got 'pdf'"):
        document().printed("pdf")


def test_brackets_stretch_because_fonts_that_can_are_named():
    assert "Math" in re.search(r"\.workings math \{[^}]*font-family: ([^;]*);", document().html())[1]


def test_a_drawing_is_lines_in_text_and_latex_and_a_picture_on_pages():
    assert "    ├─ a\n    └─ −b" in document().text()
    assert "\\begin{verbatim}\na * b\n|- a\n`- -b\n\\end{verbatim}" in document().latex()
    assert document().html().count("<svg") == 2
    assert document().markdown().count("data:image/svg+xml") == 2
