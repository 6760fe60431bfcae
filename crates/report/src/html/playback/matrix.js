// The fabric as a matrix, for networks whose links would cross too often: a line for each switch with
// links upward or to hosts, and a cell for each of these links. The left half of a cell is what the
// switch of the line sends, the right half what the other end sends.
'use strict';
const matrix = (() => {
  const { ROOT, step, bar, diamond, ring } = marks;
  // From so many directions of links on, a fabric is shown as a matrix at first.
  const MANY = 200;
  const [HEAD, CELL, BETWEEN] = [18, 18, 3];
  // Between links upward and links to hosts, as a share of a column.
  const GAP = 0.6;

  // The lines of a fabric from the top row down, and where the halves of cells lie: columns from the
  // left, in units of a column, and lines from the top.
  function lay(fabric) {
    const switches = fabric.nodes.map((node, at) => ({ ...node, at })).filter((node) => !node.hosts);
    switches.sort((a, b) => b.row - a.row || a.x - b.x);
    const isHost = (end) => fabric.nodes[end.peer].hosts > 0;
    const rowOf = (node) => fabric.nodes[node].row;
    const lines = switches.map(({ at, label, row }) => {
      const ends = fabric.ends.map((end, place) => ({ ...end, place })).filter((end) => end.node === at);
      ends.sort((a, b) => a.x - b.x);
      const up = ends.filter((end) => {
        return !isHost(end) && (rowOf(end.peer) > row || (rowOf(end.peer) === row && end.place < end.back));
      });
      return { label, row, up, hosts: ends.filter(isHost) };
    });
    const shown = lines.filter(({ up, hosts }) => up.length + hosts.length > 0);
    const most = (key) => Math.max(0, ...shown.map((line) => line[key].length));
    const [up, hosts] = [most('up'), most('hosts')];
    const start = up ? up + GAP : 0;
    const halves = new Map();
    shown.forEach((line, at) => {
      const cell = (column) => (end, place) => {
        halves.set(end.place, [column + place, at, 0]);
        halves.set(end.back, [column + place, at, 1]);
      };
      line.up.forEach(cell(0));
      line.hosts.forEach(cell(start));
    });
    // A column is named if all its cells lead to the same node.
    const names = Array.from({ length: up }, (_, column) => {
      const to = new Set(shown.filter((line) => line.up[column]).map((line) => line.up[column].peer));
      const [peer] = to;
      return to.size === 1 ? fabric.nodes[peer].label : '';
    });
    const above = new Set(shown.flatMap((line) => line.up.map((end) => rowOf(end.peer))));
    const [only] = above;
    return {
      lines: shown,
      halves,
      columns: start + hosts,
      names,
      upward: above.size === 1 ? fabric.rows[only].name : 'links upward',
      start,
      hosts,
      height: HEAD + shown.length * (CELL + BETWEEN),
    };
  }

  const height = ({ fabric }) => fabric.matrix.height;
  const margin = (most, isNarrow) => (isNarrow ? most / 2 : most);

  // The box of the half of a cell, in pixels: left, top, width and height; none of a
  // link that no line has.
  function box({ fabric, margin, width }, end) {
    const { halves, columns } = fabric.matrix;
    const found = halves.get(end);
    if (!found) return null;
    const [column, line, half] = found;
    const wide = (width - margin) / columns;
    const one = Math.max(1, (wide - BETWEEN) / 2);
    return [margin + column * wide + half * one, HEAD + line * (CELL + BETWEEN), one, CELL];
  }

  function draw(pen, panel, cell) {
    const { fabric, scene, look, font, margin, width, isNarrow } = panel;
    const { lines, columns, names, upward, start, hosts } = fabric.matrix;
    const wide = (width - margin) / columns;
    pen.font = font;
    pen.textBaseline = 'middle';
    pen.fillStyle = look.muted;
    const middle = HEAD / 2;
    pen.textAlign = 'center';
    const named = names.every((name) => name && pen.measureText(name).width < wide);
    if (named) names.forEach((name, at) => pen.fillText(name, margin + (at + 0.5) * wide, middle));
    pen.textAlign = 'left';
    if (start) pen.fillText(upward, named ? 0 : margin, middle);
    if (hosts) pen.fillText('hosts', margin + start * wide, middle);
    pen.fillStyle = look.ink;
    lines.forEach(({ label, row, up, hosts }) => {
      const [, top] = box(panel, (up[0] || hosts[0]).place);
      const name = isNarrow ? label : fabric.rows[row].name + '\u00a0' + label;
      pen.fillText(name, 0, top + CELL / 2);
    });
    fabric.ends.forEach((end, at) => {
      const [x, y, w, h] = box(panel, at) || [0, 0, 0, 0];
      const [busy, depth, pause, held] = cell(at);
      const level = step(busy, scene.steps);
      pen.fillStyle = level ? look.busy[level] : look.soft;
      pen.fillRect(x, y, w, h);
      if (depth) {
        pen.fillStyle = look.s1;
        pen.fillRect(x, y + h - 5, Math.max(1.5, (w * bar(scene, depth)) / scene.bar), 5);
      }
      if (pause === ROOT) {
        diamond(pen, look, x + w / 2, y + h / 2);
      } else if (pause) {
        const bold = step(pause, scene.pauses);
        pen.strokeStyle = look.alarm;
        pen.lineWidth = [0, 1.2, 1.8, 2.6][bold];
        pen.setLineDash([4, 2.5]);
        pen.strokeRect(x + 1, y + 1, w - 2, h - 2);
        pen.setLineDash([]);
      }
      if (held) ring(pen, look, x + w / 2, y + h / 2);
    });
  }

  // The end whose half of a cell is at a place; -1 if there is none.
  function nearest(panel, x, y) {
    return panel.fabric.ends.findIndex((_, at) => {
      const [left, top, w, h] = box(panel, at) || [0, 0, 0, 0];
      return x >= left && x < left + w && y >= top && y < top + h;
    });
  }

  function outline(pen, panel, at) {
    const place = box(panel, at);
    if (place) pen.strokeRect(...place);
  }

  const isMany = (fabric) => fabric.ends.filter((end) => !fabric.nodes[end.peer].hosts).length > MANY;

  return { lay, isMany, height, margin, draw, outline, nearest };
})();
