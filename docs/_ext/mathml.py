"""Writes equations as MathML, which browsers draw themselves: pages need no script and no network."""

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)


def visit_math(translator: HTML5Translator, node: nodes.math | nodes.math_block) -> None:
    block = isinstance(node, nodes.math_block)
    try:
        equation = tex2mathml(node.astext(), as_block=block)
    except MathError as error:
        logger.warning("equation %s: %s", node.astext(), error, location=node)
        raise nodes.SkipNode from None
    translator.body.append(f'<div class="equation">{equation}</div>' if block else equation)
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
