// The fabric as a network: switches by tier with their links, hosts at the bottom. It is the picture that is
// drawn without scripts, by the same geometry (stage.rs, still.rs).
'use strict';
const network = (() => {
  const { ROOT, step, bar, diamond, ring } = marks;
  // How near a pointer must be to a port, in pixels.
  const NEAR = 14;

  const height = ({ fabric }) => fabric.height;
  // Names of rows stand beside the fabric, where there is room.
  const margin = (most, isNarrow) => (isNarrow ? 0 : most);

  function draw(pen, panel, cell) {
    drawLinks(pen, panel, cell);
    drawNodes(pen, panel, cell);
    drawQueues(pen, panel, cell);
  }

  // Marks the half of a link and its port.
  function outline(pen, panel, at) {
    const end = panel.fabric.ends[at];
    pen.beginPath();
    half(pen, panel, end);
    pen.stroke();
    const [x, y] = port(panel, end);
    pen.beginPath();
    pen.arc(x, y, 4, 0, 2 * Math.PI);
    pen.stroke();
  }

  function port({ fabric, x }, end) {
    const row = fabric.rows[fabric.nodes[end.node].row];
    return [x(end.x), end.top ? row.y : row.y + row.height];
  }

  // Adds the half of a link that is next to its sending end.
  function half(pen, panel, end) {
    const { fabric } = panel;
    const [x, y] = port(panel, end);
    const [toX, toY] = port(panel, fabric.ends[end.back]);
    const [midX, midY] = [(x + toX) / 2, (y + toY) / 2];
    pen.moveTo(x, y);
    if (fabric.nodes[end.node].row !== fabric.nodes[end.peer].row) return pen.lineTo(midX, midY);
    const high = Math.min(66, 14 + 0.1 * Math.abs(toX - x));
    pen.quadraticCurveTo((x + midX) / 2, y - high, midX, midY - high);
  }

  function drawLinks(pen, panel, cell) {
    const { fabric: { ends }, scene, look } = panel;
    const busy = Array.from({ length: scene.steps + 1 }, () => []);
    const paused = Array.from({ length: scene.pauses + 1 }, () => []);
    ends.forEach((end, at) => {
      const [share, , pause] = cell(at);
      busy[step(share, scene.steps)].push(end);
      if (pause !== ROOT) paused[step(pause, scene.pauses)].push(end);
    });
    const stroke = (some, color, width) => {
      pen.strokeStyle = color;
      for (const bundle of [false, true]) {
        pen.lineWidth = width * (bundle ? 2 : panel.fine);
        pen.beginPath();
        some.filter((end) => end.links > 1 === bundle).forEach((end) => half(pen, panel, end));
        pen.stroke();
      }
    };
    busy.forEach((some, at) => stroke(some, at ? look.busy[at] : look.rule, at ? 1.6 : 1));
    pen.setLineDash([4, 2.5]);
    [0, 1.2, 1.7, 2.4].forEach((width, at) => {
      if (at === 0) return;
      pen.globalAlpha = at === 1 ? 0.7 : 1;
      stroke(paused[at], look.alarm, width);
    });
    pen.globalAlpha = 1;
    pen.setLineDash([]);
  }

  function drawNodes(pen, { fabric, x, look, font, margin }, cell) {
    const pauses = new Set();
    fabric.ends.forEach((end, at) => {
      const pause = cell(at)[2];
      if (pause > 0 && pause !== ROOT) pauses.add(end.peer);
    });
    pen.font = font;
    pen.textAlign = 'center';
    pen.textBaseline = 'middle';
    fabric.nodes.forEach((node, at) => {
      const { y, height } = fabric.rows[node.row];
      const wide = x(node.x + node.width / 2) - x(node.x - node.width / 2);
      pen.fillStyle = look.soft;
      pen.strokeStyle = pauses.has(at) ? look.alarm : look.zero;
      pen.lineWidth = pauses.has(at) ? 2 : 1;
      pen.beginPath();
      if (node.width) pen.roundRect(x(node.x) - wide / 2, y, wide, height, 3);
      else pen.arc(x(node.x), y + height / 2, 2, 0, 2 * Math.PI);
      pen.fill();
      pen.stroke();
      if (pen.measureText(node.label).width + 2 > wide) return;
      pen.fillStyle = look.ink;
      pen.fillText(node.label, x(node.x), y + height / 2 + 0.5);
    });
    if (!margin) return;
    pen.textAlign = 'left';
    pen.fillStyle = look.muted;
    fabric.rows.forEach(({ name, y, height }) => pen.fillText(name, 0, y + height / 2));
  }

  function drawQueues(pen, panel, cell) {
    const { fabric: { ends }, scene, look } = panel;
    const roots = [];
    pen.strokeStyle = look.s1;
    pen.lineWidth = 3 * panel.fine;
    pen.beginPath();
    ends.forEach((end, at) => {
      const [, depth, pause] = cell(at);
      if (!depth) return;
      const [x, y] = port(panel, end);
      const high = (end.top ? -1 : 1) * bar(scene, depth);
      // Beside the port, whose link is to be seen.
      const beside = x + 2.4 * panel.fine;
      pen.moveTo(beside, y);
      pen.lineTo(beside, y + high);
      if (pause === ROOT) roots.push([beside, y + high + (end.top ? -6 : 6)]);
    });
    pen.stroke();
    roots.forEach(([x, y]) => diamond(pen, look, x, y));
    ends.forEach((end, at) => {
      if (cell(at)[3]) ring(pen, look, ...port(panel, end));
    });
  }

  // The end whose half of a link, or whose bar, is nearest to a place; -1 if none is near.
  function nearest(panel, x, y) {
    const { fabric } = panel;
    let best = -1;
    let least = NEAR;
    fabric.ends.forEach((end, at) => {
      const [fromX, fromY] = port(panel, end);
      const [toX, toY] = port(panel, fabric.ends[end.back]);
      const same = fabric.nodes[end.node].row === fabric.nodes[end.peer].row;
      const high = same ? Math.min(66, 14 + 0.1 * Math.abs(toX - fromX)) : 0;
      const [dx, dy] = [(toX - fromX) / 2, (toY - fromY) / 2 - high];
      // Along the half, which is taken for straight.
      const along = ((x - fromX) * dx + (y - fromY) * dy) / (dx * dx + dy * dy || 1);
      const part = Math.min(1, Math.max(0, along));
      // Where lines cross, the one whose port is nearer.
      const away = Math.hypot(x - fromX - part * dx, y - fromY - part * dy) + 2 * part;
      if (away < least) [best, least] = [at, away];
    });
    return best;
  }

  return { height, margin, draw, outline, nearest };
})();
