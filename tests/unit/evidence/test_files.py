"""Files of a run that somebody else has written to."""

import pytest

from sirocco.evidence.files import stored_document


def test_a_document_is_read_as_it_was_written(tmp_path):
    file = tmp_path / "core.yaml"
    file.write_text("safety: {verdict: PASS}\nscores: [1.0, 0.5]\n")
    assert stored_document(file) == {"safety": {"verdict": "PASS"}, "scores": [1.0, 0.5]}


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_a_document_without_end_to_its_depth_is_refused_before_it_brings_the_process_down(tmp_path, opening):
    file = tmp_path / "verdict.json"
    file.write_text(opening * 200_000)
    with pytest.raises(ValueError, match="nested deeper"):
        stored_document(file)
