// Plays the record of a run back: the fabric at one sample after another, of one variant or of two
// below each other, as a network (network.js) or as a matrix (matrix.js).
'use strict';
{
  const { unpack, prepare, sampleAt, bytesInWords, clock, counted } = recording;

  // The names of rows stand beside the fabric, where there is room.
  const MARGIN = 86;
  const NARROW = 640;
  // The height of a variant's row above the slider, and how far the slider's thumb stays from its ends.
  const STRIP = 32;
  const THUMB = 8;
  // How long the whole run takes, in seconds.
  const SPEEDS = [60, 30, 15, 8];
  // Changes a second where less motion was asked for.
  const CALM = 2;
  const { ROOT } = marks;
  // So many roots of pauses are named below a picture.
  const ROOTS = 6;

  const root = document.getElementById('playback');
  if (root && 'DecompressionStream' in window) start();

  async function start() {
    const text = new TextDecoder().decode(await unpack(root.querySelector('.scene')));
    const scene = JSON.parse(text);
    const cells = await Promise.all([...root.querySelectorAll('.cells')].map(unpack));
    scene.variants.forEach((variant, at) => (variant.cells = cells[at]));
    scene.fabrics.forEach(prepare);
    scene.fabrics.forEach((fabric) => (fabric.matrix = matrix.lay(fabric)));
    player(scene);
  }

  // Elements.

  function element(parent, name, attributes = {}, text = '') {
    const made = document.createElement(name);
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    if (text) made.textContent = text;
    parent.append(made);
    return made;
  }

  function choice(parent, label, options, chosen, change) {
    const made = element(parent, 'select', { 'aria-label': label });
    options.forEach(([value, text]) => element(made, 'option', { value }, text));
    made.value = chosen;
    made.addEventListener('change', () => change(Number(made.value)));
    return made;
  }

  // A canvas as sharp as the screen, with its size in pixels of the page.
  function sized(canvas, width, height) {
    const dots = window.devicePixelRatio || 1;
    canvas.style.height = height + 'px';
    canvas.width = Math.round(width * dots);
    canvas.height = Math.round(height * dots);
    const pen = canvas.getContext('2d');
    pen.setTransform(dots, 0, 0, dots, 0, 0);
    pen.clearRect(0, 0, width, height);
    return pen;
  }

  function colors() {
    const style = getComputedStyle(document.documentElement);
    const of = (name) => style.getPropertyValue('--' + name).trim();
    const names = ['page', 'ink', 'muted', 'rule', 'zero', 'soft', 'alarm', 's1'];
    const all = Object.fromEntries(names.map((name) => [name, of(name)]));
    all.busy = [0, 1, 2, 3, 4, 5, 6, 7].map((step) => of('q' + step));
    return all;
  }

  function player(scene) {
    const { variants } = scene;
    const calm = matchMedia('(prefers-reduced-motion: reduce)');
    let look = colors();
    let shown = variants.length > 1 ? [0, variants.length - 1] : [0];
    let ticks = [];
    let tick = 0;
    let playing = false;
    let moved = false;
    let seconds = 30;
    let pointed = null;
    let pinned = null;
    let asMatrix = scene.fabrics.some(matrix.isMany);
    const view = () => (asMatrix ? matrix : network);

    // The controls.
    const stage = element(root, 'div', { class: 'stage', role: 'group', 'aria-label': 'Playback' });
    const controls = element(stage, 'div', { class: 'bar' });
    const play = element(controls, 'button', { type: 'button', class: 'play' }, '▶ Play');
    const timeShown = element(controls, 'span', { class: 'time' });
    const speeds = SPEEDS.map((seconds) => [seconds, `whole run in ${seconds} s`]);
    choice(controls, 'Speed', speeds, seconds, (chosen) => (seconds = chosen));
    const worst = element(controls, 'button', { type: 'button' }, 'Worst sample');
    const views = [[0, 'as a network'], [1, 'as a matrix']];
    choice(controls, 'View', views, Number(asMatrix), (chosen) => {
      asMatrix = chosen === 1;
      pointed = null;
      arrange();
    });
    if (variants.length > 1) {
      const names = variants.map((variant, at) => [at, variant.name]);
      const which = element(controls, 'span', { class: 'bar' });
      element(which, 'span', {}, 'Show');
      choice(which, 'Variant above', names, shown[0], (chosen) => {
        shown[0] = chosen;
        arrange();
      });
      element(which, 'span', {}, 'and');
      const below = [...names, [-1, 'nothing else']];
      choice(which, 'Variant below', below, shown[1], (chosen) => {
        shown = chosen < 0 ? [shown[0]] : [shown[0], chosen];
        arrange();
      });
    }
    const over = element(stage, 'div', { class: 'over' });
    const strip = element(over, 'canvas', { 'aria-hidden': 'true' });
    const slider = element(stage, 'input', {
      type: 'range',
      min: 0,
      max: 1,
      step: 'any',
      'aria-label': 'Simulated time',
    });
    const stripKey = element(stage, 'p', { class: 'keys' });
    const matrixKey = element(stage, 'p', { class: 'keys' });
    const panels = element(stage, 'div', { class: 'panels' });
    element(
      stage,
      'p',
      { class: 'keys' },
      'Point at a port to read it, click or tap to keep it. Space plays and stops, the arrow keys go to ' +
        'the sample before and after.'
    );

    // Makes a panel for every variant that is shown, and the list of samples that any of them has.
    function arrange() {
      const now = ticks[tick];
      const times = shown.flatMap((at) => {
        const { first, interval, samples } = variants[at];
        return Array.from({ length: samples }, (_, sample) => first + sample * interval);
      });
      times.sort((a, b) => a - b);
      ticks = times.filter((time, at) => at === 0 || time - times[at - 1] > 1e-3);
      tick = now === undefined ? 0 : nearestTick(now);
      pointed = pinned = null;
      panels.replaceChildren();
      shown.forEach((at) => panel(variants[at]));
      const paused = variants.some((variant) => variant.paused.some((many) => many > 0));
      stripKey.textContent =
        'Over time, each variant in a row: what waits in all ports (area, up to ' +
        bytesInWords(mostOf('backlog')) +
        ')' +
        (paused ? ` and how many ports are paused (red line, up to ${mostOf('paused')}).` : '.');
      matrixKey.textContent = asMatrix
        ? 'A line for each switch, a cell for each of its links upward and to hosts. The left half of a cell is ' +
          'what the switch of the line sends, the right half what the other end sends; the bar at the bottom is ' +
          'the queue there, and a dashed red frame means paused.'
        : '';
      matrixKey.hidden = !asMatrix;
      over.style.height = STRIP * shown.length + 2 + 'px';
      draw();
    }

    const mostOf = (key) => Math.max(0, ...shown.map((at) => Math.max(...variants[at][key])));

    function nearestTick(time) {
      const after = ticks.findIndex((tick) => tick >= time);
      if (after < 0) return ticks.length - 1;
      return after > 0 && time - ticks[after - 1] < ticks[after] - time ? after - 1 : after;
    }

    function panel(variant) {
      const fabric = scene.fabrics[variant.fabric];
      const place = element(panels, 'div', { class: 'panel' });
      const head = element(place, 'div', { class: 'head' });
      element(head, 'strong', {}, variant.name);
      const total = element(head, 'span');
      const canvas = element(place, 'canvas', { tabindex: 0, role: 'img' });
      const roots = element(place, 'p', { class: 'roots' });
      const told = element(place, 'p', { class: 'told' });
      const at = { variant, fabric, canvas, total, roots, told, x: null };
      place.shows = at;
      const find = (event) => {
        const box = canvas.getBoundingClientRect();
        const end = view().nearest(at, event.clientX - box.left, event.clientY - box.top);
        return end < 0 ? null : key(fabric, end);
      };
      canvas.addEventListener('pointermove', (event) => {
        if (event.pointerType === 'touch') return;
        const found = find(event);
        if (found === pointed) return;
        pointed = found;
        draw();
      });
      canvas.addEventListener('pointerleave', () => {
        pointed = null;
        draw();
      });
      canvas.addEventListener('click', (event) => {
        const found = find(event);
        pinned = found === pinned ? null : found;
        draw();
      });
    }

    // A port, in whatever fabric.
    const key = (fabric, end) => fabric.nodes[fabric.ends[end].node].name + '\n' + fabric.ends[end].port;

    function draw() {
      const time = ticks[tick];
      const words = clock(ticks[0], ticks[ticks.length - 1], smallest());
      slider.value = (time - ticks[0]) / span();
      slider.setAttribute('aria-valuetext', words(time));
      timeShown.textContent = words(time);
      for (const { shows } of panels.children) drawPanel(shows, time);
      drawStrip();
    }

    const span = () => Math.max(1, ticks[ticks.length - 1] - ticks[0]);
    const smallest = () => Math.min(...shown.map((at) => variants[at].interval));

    function drawPanel(panel, time) {
      const { variant, fabric, canvas } = panel;
      const sample = sampleAt(variant, time);
      panel.total.textContent =
        sample < 0
          ? 'the run has ended'
          : [
              counted(variant.paused[sample], 'port paused', 'ports paused'),
              ...(variant.paused[sample]
                ? [counted(variant.roots[sample], 'root of pauses', 'roots of pauses')]
                : []),
              bytesInWords(variant.backlog[sample]) + ' waiting',
            ].join(', ');
      const width = canvas.clientWidth;
      const isNarrow = width < NARROW;
      const margin = view().margin(MARGIN, isNarrow);
      const font = '11px ' + getComputedStyle(root).fontFamily;
      Object.assign(panel, { width, isNarrow, margin, font, scene, look });
      const pen = sized(canvas, width, view().height(panel));
      // Half a pixel on either side, so that no line is cut off.
      panel.x = (share) => margin + 1 + share * (width - margin - 2);
      // Lines are as wide as the distance of ports allows.
      panel.fine = Math.min(1, Math.max(0.4, (fabric.gap * (width - margin)) / 4.5));
      const cell = cellsAt(variant, fabric, sample);
      view().draw(pen, panel, cell);
      listRoots(panel, cell);
      const selected = pointed || pinned;
      const end = selected ? fabric.ends.findIndex((_, at) => key(fabric, at) === selected) : -1;
      if (end >= 0) {
        pen.strokeStyle = look.ink;
        pen.lineWidth = 2.5;
        view().outline(pen, panel, end);
      }
      panel.told.textContent = end >= 0 ? inWords(fabric, end, cell) : '';
      if (!playing) {
        canvas.setAttribute('aria-label', `Fabric of ${variant.name}: ${panel.total.textContent}`);
      }
    }

    // The four bytes of an end at a sample: bytes stand kind by kind and end by end.
    function cellsAt(variant, fabric, sample) {
      const { cells, samples } = variant;
      const kind = fabric.ends.length * samples;
      if (sample < 0) return () => [0, 0, 0, 0];
      return (end) => {
        const at = end * samples + sample;
        return [0, 1, 2, 3].map((of) => cells[at + of * kind]);
      };
    }

    // Names the ports from which pauses spread, the deepest queue first; each is a button that keeps it.
    function listRoots({ fabric, roots }, cell) {
      const found = fabric.ends.map((_, at) => at).filter((at) => cell(at)[2] === ROOT);
      found.sort((a, b) => cell(b)[1] - cell(a)[1]);
      roots.replaceChildren();
      if (!found.length) return;
      element(roots, 'span', {}, 'Roots of pauses: ');
      found.slice(0, ROOTS).forEach((at) => {
        const { node, peer } = fabric.ends[at];
        const words = `${fabric.nodes[node].name} to ${fabric.nodes[peer].name}, ${waiting(cell(at)[1])}`;
        const mine = key(fabric, at);
        const pressed = String(pinned === mine);
        const button = element(roots, 'button', { type: 'button', 'aria-pressed': pressed }, words);
        button.addEventListener('click', () => {
          pinned = pinned === mine ? null : mine;
          draw();
        });
      });
      if (found.length > ROOTS) element(roots, 'span', {}, `and ${found.length - ROOTS} more`);
    }

    const waiting = (depth) => bytesInWords(scene.smallest * 2 ** ((depth - 1) / scene.perDoubling));

    function inWords(fabric, at, cell) {
      const end = fabric.ends[at];
      const [busy, depth, pause, held] = cell(at);
      const [node, peer] = [fabric.nodes[end.node], fabric.nodes[end.peer]];
      const one = end.links === 1;
      const share = (part) => Math.round(part / 2) + '\u00a0%';
      const from = node.hosts || !one ? node.name : `${node.name}, port ${end.port},`;
      const words = [`${from} to ${peer.name}: ${share(busy)} busy${one ? '' : ' on average'}`];
      if (depth) words.push(`${one ? 'about' : 'at most about'} ${waiting(depth)} waiting`);
      else words.push('nothing waiting');
      if (pause === ROOT) words.push('not paused: pauses spread from here');
      else if (pause) words.push(`${one ? '' : 'at most '}paused for ${share(pause)} of the time`);
      if (held) words.push(`${held === 255 ? 'at least 255' : held} held back (queues, directions or destinations)`);
      return words.join(', ') + '.';
    }

    function drawStrip() {
      const width = over.clientWidth;
      const pen = sized(strip, width, STRIP * shown.length + 2);
      const first = ticks[0];
      pen.font = '11px ' + getComputedStyle(root).fontFamily;
      const x = (time) => THUMB + ((time - first) / span()) * (width - 2 * THUMB);
      const [mostWaits, mostPaused] = [mostOf('backlog'), mostOf('paused')];
      shown.forEach((at, row) => {
        const variant = variants[at];
        const floor = STRIP * (row + 1) - 1;
        const y = (value, most) => floor - (value / (most || 1)) * (STRIP - 4);
        const times = variant.backlog.map((_, sample) => variant.first + sample * variant.interval);
        pen.fillStyle = look.s1;
        pen.globalAlpha = 0.35;
        pen.beginPath();
        pen.moveTo(x(times[0]), floor);
        times.forEach((time, sample) => pen.lineTo(x(time), y(variant.backlog[sample], mostWaits)));
        pen.lineTo(x(times[times.length - 1]), floor);
        pen.fill();
        pen.globalAlpha = 1;
        pen.strokeStyle = look.rule;
        pen.lineWidth = 1;
        pen.beginPath();
        pen.moveTo(THUMB, floor + 0.5);
        pen.lineTo(width - THUMB, floor + 0.5);
        pen.stroke();
        if (variant.paused.some((many) => many > 0)) {
          pen.strokeStyle = look.alarm;
          pen.lineWidth = 1.3;
          pen.beginPath();
          times.forEach((time, sample) => pen.lineTo(x(time), y(variant.paused[sample], mostPaused)));
          pen.stroke();
        }
        pen.textAlign = 'right';
        pen.fillStyle = look.muted;
        pen.fillText(variant.name, width - THUMB, floor - STRIP + 13);
      });
      pen.strokeStyle = look.ink;
      pen.lineWidth = 1.5;
      pen.beginPath();
      pen.moveTo(x(ticks[tick]), 0);
      pen.lineTo(x(ticks[tick]), STRIP * shown.length + 2);
      pen.stroke();
    }

    // Time.

    // When a frame was last looked at, when the picture last changed, and the simulated time.
    let before = 0;
    let changed = 0;
    let time = 0;
    function go(now) {
      if (!playing) return;
      if (before) time += (Math.min(now - before, 500) / (seconds * 1000)) * span();
      before = now;
      const last = ticks.length - 1;
      let next = tick;
      while (next < last && ticks[next + 1] <= time) next += 1;
      if (next > tick && (!calm.matches || now - changed >= 1000 / CALM)) {
        changed = now;
        tick = next;
        if (tick === last) stop();
        draw();
      }
      requestAnimationFrame(go);
    }

    function stop() {
      playing = false;
      play.textContent = '▶ Play';
    }

    function toggle() {
      if (playing) {
        stop();
        return draw();
      }
      // The first time from the beginning, and again after the end.
      if (!moved || tick === ticks.length - 1) tick = 0;
      [playing, moved, before, time] = [true, true, 0, ticks[tick]];
      play.textContent = '❚❚ Pause';
      draw();
      requestAnimationFrame(go);
    }

    function move(to) {
      moved = true;
      tick = Math.min(ticks.length - 1, Math.max(0, to));
      time = ticks[tick];
      draw();
    }

    const moveTo = (time) => move(nearestTick(time));

    function toWorst() {
      const at = shown.reduce((a, b) => (busier(variants[b], variants[a]) ? b : a));
      const { first, interval, worst } = variants[at];
      moveTo(first + interval * worst);
    }

    function busier(one, other) {
      const of = (variant) => [variant.paused[variant.worst], variant.backlog[variant.worst]];
      const [[paused, waits], [otherPaused, otherWaits]] = [of(one), of(other)];
      return paused > otherPaused || (paused === otherPaused && waits > otherWaits);
    }

    play.addEventListener('click', toggle);
    worst.addEventListener('click', () => {
      stop();
      toWorst();
    });
    slider.addEventListener('input', () => moveTo(ticks[0] + Number(slider.value) * span()));
    // Times elsewhere on the page lead here.
    document.addEventListener('click', (event) => {
      const link = event.target.closest('[data-play-ns]');
      if (!link) return;
      stop();
      moveTo(Number(link.dataset.playNs));
    });
    strip.addEventListener('pointerdown', (event) => {
      const box = strip.getBoundingClientRect();
      const part = (event.clientX - box.left - THUMB) / (box.width - 2 * THUMB);
      moveTo(ticks[0] + part * span());
    });
    stage.addEventListener('keydown', (event) => {
      const { tagName } = event.target;
      if (tagName === 'SELECT' || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === ' ' && tagName !== 'BUTTON') toggle();
      else if (event.key === 'ArrowLeft') move(tick - 1);
      else if (event.key === 'ArrowRight') move(tick + 1);
      else if (event.key === 'Home') move(0);
      else if (event.key === 'End') move(ticks.length - 1);
      else return;
      event.preventDefault();
    });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
      look = colors();
      draw();
    });

    root.classList.add('live');
    arrange();
    const { first, interval, worst: sample } = variants[scene.worst];
    tick = nearestTick(first + interval * sample);
    new ResizeObserver(draw).observe(stage);
    draw();
  }
}
