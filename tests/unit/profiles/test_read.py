from pathlib import Path

import pytest

from sirocco.domains.kubernetes.bundled import bundled_profile_folder
from sirocco.errors import Finding, Place
from sirocco.profiles.read import MAX_BYTES, Form, SourceFile, read_file, read_profile_files


def test_the_bundled_profile_is_a_folder_of_the_package() -> None:
    assert (bundled_profile_folder() / "profile.yaml").is_file()


def test_scenario_files_are_read_in_order_of_name_whatever_their_depth(tmp_path: Path) -> None:
    for name in ("b/two.yaml", "a/one.yml", "a/b/deep.yaml", "c.txt"):
        path = tmp_path / "scenarios" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    (tmp_path / "profile.yaml").write_text("p")
    files = read_profile_files(tmp_path)
    names = [str(Path(file.name).relative_to(tmp_path / "scenarios")) for file in files.scenarios]
    assert names == ["a/b/deep.yaml", "a/one.yml", "b/two.yaml"]
    assert list(files.documents) == ["profile.yaml"]
    assert files.form is Form.NATIVE
    assert files.findings == ()


def test_text_keeps_every_character(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes("a: ü\r\nb: 2\n".encode())
    assert read_file(path) == SourceFile(str(path), "a: ü\r\nb: 2\n")


@pytest.mark.parametrize(
    ("content", "line", "column"), [(b"a: 1\nb: \xff\n", 2, 4), ("é: ".encode() + b"\xc3", 1, 4), (b"\xfe", 1, 1)]
)
def test_what_is_not_utf_8_is_found_at_its_place(tmp_path: Path, content: bytes, line: int, column: int) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(content)
    finding = read_file(path)
    assert isinstance(finding, Finding)
    assert (finding.rule, finding.place) == ("file-unreadable", Place(str(path), line, column))


def test_a_file_beyond_the_bound_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(b"#" * (MAX_BYTES + 1))
    finding = read_file(path)
    assert isinstance(finding, Finding)
    assert finding.rule == "file-unreadable"


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    finding = read_file(tmp_path)
    assert isinstance(finding, Finding)
    assert "directory" in finding.problem
