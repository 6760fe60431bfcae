"""Takes a chart out of a report as a picture of its own.

    python3 docs/images/extract.py results/demo/report.html "How does the mean completion time change"

prints the first chart whose caption begins so as SVG, with the page's style in it: light or dark as
the viewer is.
"""

import html
import re
import sys

MARGIN, CAPTION = 24, 36


def chart(page: str, caption: str) -> str:
    style = re.search(r"<style>(.*?)</style>", page, re.S)
    figure = re.compile(r"<figcaption>([^<]*)</figcaption>\s*<div[^>]*>(<svg.*?</svg>)", re.S)
    for found in figure.finditer(page):
        text = html.unescape(found[1])
        if text.startswith(caption):
            return picture(text, found[2], style[1])
    raise SystemExit(f"there is no chart whose caption begins with: {caption}")


def picture(caption: str, svg: str, style: str) -> str:
    width, height = map(float, re.search(r'viewBox="0 0 (\S+) (\S+)"', svg).groups())
    place = f'<svg x="{MARGIN}" y="{MARGIN + CAPTION}"'
    whole_width, whole_height = width + 2 * MARGIN, height + 2 * MARGIN + CAPTION
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole_width:g} {whole_height:g}" \
width="{whole_width:g}" height="{whole_height:g}" class="playback" role="img">
<style><![CDATA[{style}
svg {{ font: 15px system-ui, sans-serif; font-variant-numeric: tabular-nums; }}
.page {{ fill: var(--page); }}
.caption {{ fill: var(--ink); font-size: 16px; font-weight: 650; }}
]]></style>
<rect class="page" width="100%" height="100%" rx="8"/>
<text class="caption" x="{MARGIN}" y="{MARGIN + 16}">{html.escape(caption)}</text>
{svg.replace("<svg", place, 1)}
</svg>
"""


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as report:
        sys.stdout.write(chart(report.read(), sys.argv[2]))
