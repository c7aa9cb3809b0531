"""Makes pages of Markdown documents that lie elsewhere, and points the links of all documents at pages."""

import os
import re
from pathlib import Path

from sphinx.application import Sphinx

REPO = Path(__file__).parents[2]
# Page -> the document that it shows; the page's own file only says where that is.
PAGES = {
    "config": REPO / "config/README.md",
    "contributing": REPO / "CONTRIBUTING.md",
    "data_files": REPO / "data/README.md",
    "result_files": REPO / "results/README.md",
}
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)#\s]+)(#[^)\s]*)?\)")


def read_document(app: Sphinx, page: str, source: list[str]) -> None:
    document = PAGES.get(page, Path(app.env.doc2path(page)))
    if document.suffix != ".md":
        return
    if page in PAGES:
        app.env.note_dependency(str(document))
        source[0] = document.read_text(encoding="utf-8")
    shown_at = (Path(app.srcdir) / page).parent
    source[0] = LINK.sub(lambda match: site_link(match, document, Path(app.srcdir), shown_at), source[0])


def site_link(match: re.Match[str], document: Path, docs: Path, shown_at: Path) -> str:
    """The link of a document for its page in the folder `shown_at`; a link to a folder becomes plain text."""
    text, target, section = match[1], match[2], match[3] or ""
    if "://" in target:
        return match[0]
    path = (document.parent / target).resolve()
    if path.is_dir():
        return text
    return f"[{text}]({os.path.relpath(page_of(path, docs), shown_at)}{section})"


def page_of(path: Path, docs: Path) -> Path:
    """The source of the page that shows a file: of a document elsewhere, or of an example; else the file itself."""
    if path.parent == docs / "examples":
        return docs / "gallery" / f"{path.stem.replace('README', 'index')}.rst"
    page = next((page for page, shown in PAGES.items() if shown == path), None)
    return docs / f"{page}.md" if page else path


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", read_document)
    return {"parallel_read_safe": True}
