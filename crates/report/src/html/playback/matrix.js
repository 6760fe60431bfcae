// The fabric as a matrix, for networks whose links would cross too often: a line for each switch with
// links upward or to hosts, and a cell for each of these links. The left half of a cell is what the
// switch of the line sends, the right half what the other end sends.
'use strict';
const matrix = (() => {
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

  // The box of the half of a cell, in pixels: left, top, width and height.
  function box({ halves, columns }, end, margin, width) {
    const found = halves.get(end);
    if (!found) return null;
    const [column, line, half] = found;
    const wide = (width - margin) / columns;
    const one = Math.max(1, (wide - BETWEEN) / 2);
    return [margin + column * wide + half * one, HEAD + line * (CELL + BETWEEN), one, CELL];
  }

  const isMany = (fabric) => fabric.ends.filter((end) => !fabric.nodes[end.peer].hosts).length > MANY;

  return { lay, box, isMany, HEAD, CELL };
})();
