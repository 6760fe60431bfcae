// Marks that both views of a fabric draw.
'use strict';
const marks = (() => {
  // Of the third byte of an end at a sample: pauses spread from there.
  const ROOT = 255;

  // The step of a share, which is given in parts of 200.
  const step = (share, steps) => Math.min(steps, Math.ceil((share * steps) / 200));

  // The height of a queue's bar in pixels.
  function bar(scene, depth) {
    if (!depth) return 0;
    const over = Math.max(0, depth - scene.floor);
    return Math.max(1.5, (scene.bar * over) / Math.max(1, scene.deepest - scene.floor));
  }

  // Pauses spread from here.
  function diamond(pen, look, x, y) {
    pen.fillStyle = look.alarm;
    pen.strokeStyle = look.page;
    pen.lineWidth = 1;
    pen.beginPath();
    [[0, -6], [6, 0], [0, 6], [-6, 0]].forEach(([dx, dy]) => pen.lineTo(x + dx, y + dy));
    pen.closePath();
    pen.fill();
    pen.stroke();
  }

  // Something is held back here, but not all.
  function ring(pen, look, x, y) {
    pen.strokeStyle = look.alarm;
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.arc(x, y, 3.5, 0, 2 * Math.PI);
    pen.stroke();
  }

  return { ROOT, step, bar, diamond, ring };
})();
