"""Where probes come from, and which files hold the same one."""

import pytest

from sirocco.cli.probe_origin import distinct_probes

PROBE = "id: a\nstimuli: [x]\nx-sirocco:\n  task: [y]\n  probe: {seed: '0x1', reproduction: {runs: 2, failed: 2}}\n"


@pytest.mark.requirement("AV-11")
def test_a_probe_that_two_runs_found_is_one_and_an_edited_one_is_another(tmp_path):
    texts = {
        "first": PROBE,
        "second": PROBE.replace("failed: 2", "failed: 1"),
        "edited": PROBE.replace("[x]", "[z]"),
        "retold": PROBE.replace("[y]", "[z]"),
        "broken": "id: [",
    }
    files = []
    for folder, text in texts.items():
        (tmp_path / folder).mkdir()
        files.append(tmp_path / folder / "probe-a.yaml")
        files[-1].write_text(text)
    assert [file.parent.name for file in distinct_probes([*files, *files])] == ["first", "edited", "retold", "broken"]
    other = tmp_path / "first" / "probe-b.yaml"
    other.write_text(PROBE)
    assert len(distinct_probes([files[0], other])) == 2
