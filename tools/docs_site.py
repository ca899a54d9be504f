"""Hooks of the documentation site (mkdocs.yml): adds pages that live elsewhere, and links that work inside the site."""

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / ".cache" / "reference"
"""Where `tools/reference_pages.py` wrote the pages that follow from the code."""
ROOT_PAGES = {
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
_SHIM = "https://unpkg.com/iframe-worker/shim"
"""What lets the search run from files; the theme would load it from elsewhere."""
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)#\s:]+)(#[^)\s]*)?\)")
_FENCE = re.compile(r"(```.*?```)", re.DOTALL)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages and the pages at the root of the repository."""
    texts = {f"reference/{page.name}": page.read_text(encoding="utf-8") for page in sorted(REFERENCE.glob("*.md"))}
    texts |= {name: (ROOT / source).read_text(encoding="utf-8") for source, name in ROOT_PAGES.items()}
    texts["assets/iframe-worker.js"] = (ROOT / "tools" / "iframe-worker.js").read_text(encoding="utf-8")
    for name, text in texts.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001 - a hook's signature
    """Point links to pages of the site; name a file that is not part of it instead of linking to it."""
    at_root = {name: source for source, name in ROOT_PAGES.items()}.get(page.file.src_uri)
    folder = "" if at_root else posixpath.join("docs", posixpath.dirname(page.file.src_uri))

    def target(found: re.Match[str]) -> str:
        label, path, anchor = found[1], found[2], found[3] or ""
        meant = posixpath.normpath(posixpath.join(folder, path))
        inside = ROOT_PAGES.get(meant) or (meant.removeprefix("docs/") if meant.startswith("docs/") else None)
        if inside in {"decisions", "schemas"}:
            inside = {"decisions": "decisions/README.md", "schemas": "reference/schemas.md"}[inside]
        if inside is None or files.get_file_from_path(inside) is None:
            return label if label.startswith("`") else f"{label} (`{meant}`)" if meant not in label else f"`{meant}`"
        return f"[{label}]({posixpath.relpath(inside, posixpath.dirname(page.file.src_uri) or '.')}{anchor})"

    parts = _FENCE.split(markdown)
    return "".join(part if index % 2 else _LINK.sub(target, part) for index, part in enumerate(parts))


def on_post_page(output: str, *, page: Page, config: MkDocsConfig) -> str:  # noqa: ARG001 - a hook's signature
    """Load nothing from elsewhere."""
    return output.replace(_SHIM, posixpath.relpath("assets/iframe-worker.js", posixpath.dirname(page.url) or "."))


def on_post_template(output: str, *, template_name: str, config: MkDocsConfig) -> str:  # noqa: ARG001 - a hook's signature
    """The page for what does not exist loads nothing from elsewhere either."""
    return output.replace(_SHIM, "assets/iframe-worker.js")
