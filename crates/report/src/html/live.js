// Draws line charts again so that they can be explored: values under the pointer, zoom, axes and series to
// choose. The still pictures remain for paper and for files.
'use strict';

// The numbers of a figure as text, which its template holds compressed.
async function numbersOf(figure) {
  const packed = atob(figure.querySelector('template').content.textContent);
  const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
  const text = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Response(text).text();
}

{
  const DASHES = [[5, 3], [], [9, 2.5], [2, 2.5], [9, 3, 2, 3], [14, 4]];
  const UNITS = {
    ns: [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']],
    bytes: [[1e12, 'TB'], [1e9, 'GB'], [1e6, 'MB'], [1e3, 'KB'], [1, 'B']],
    'b/s': [[1e12, 'Tb/s'], [1e9, 'Gb/s'], [1e6, 'Mb/s'], [1e3, 'Kb/s'], [1, 'b/s']],
  };

  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const digits = (value) => String(Number(value.toPrecision(3)));

  // A value as people read it.
  function shown(value, unit) {
    if (value === 0) return unit === '%' || unit === 'share' ? '0 %' : '0';
    if (unit === 'share') return digits(value * 100) + ' %';
    if (unit === '%') return (value > 0 ? '+' : '−') + digits(Math.abs(value)) + ' %';
    const units = UNITS[unit];
    if (!units) return (Math.abs(value) >= 1e4 ? Math.round(value).toLocaleString('en') : digits(value)) + (unit ? ' ' + unit : '');
    const [scale, name] = units.find(([scale]) => Math.abs(value) >= scale * 0.9995) ?? units.at(-1);
    return digits(value / scale) + ' ' + name;
  }

  // The values of a logarithmic axis that deserve a label: powers of ten, and where these are few 2 and 5 times.
  function decades(low, high) {
    const span = Math.log10(high / low);
    const [step, parts] = span > 6 ? [2, [1]] : span > 2.2 ? [1, [1]] : span > 0.7 ? [1, [1, 2, 5]] : [1, [1, 1.5, 2, 3, 4, 5, 6, 8]];
    const ticks = [];
    for (let power = Math.floor(Math.log10(low) / step) * step; power <= Math.log10(high); power += step) {
      for (const part of parts) ticks.push(Number((part * 10 ** power).toPrecision(6)));
    }
    return ticks.filter((tick) => tick >= low * 0.999 && tick <= high * 1.001);
  }

  // Rows of comma-separated values (RFC 4180).
  function rowsOf(text) {
    return text.trimEnd().split('\n').map((line) => {
      const cells = line.match(/("([^"]|"")*"|[^,]*)(,|$)/g).map((cell) => cell.replace(/,$/, ''));
      if (!line.endsWith(',')) cells.pop();
      return cells.map((cell) => (cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell));
    });
  }

  // The charts of a figure with their points: [x, y, low, high] of every line.
  function chartsOf(figure, text) {
    const [head, ...rows] = rowsOf(text);
    let next = 0;
    return JSON.parse(figure.dataset.live).map((chart) => {
      const columns = [...chart.columns, 'low', 'high'].map((name) => head.indexOf(name));
      const number = (row, column) => (column < 0 || row[column] === '' ? null : Number(row[column]));
      const lines = chart.lines.map(([name, look, kind, count]) => {
        const points = rows.slice(next, next + count).map((row) => columns.map((at) => number(row, at)));
        next += count;
        return { name, look, kind, points };
      });
      return { ...chart, lines: lines.filter((line) => line.points.length) };
    });
  }

  function make(parent, name, properties = {}, text = '') {
    const made = document.createElement(name);
    for (const key in properties) made.setAttribute(key, properties[key]);
    if (text) made.textContent = text;
    parent.append(made);
    return made;
  }

  // One chart of a figure.
  class Panel {
    constructor(figure, chart, parent) {
      Object.assign(this, { figure, chart });
      this.root = make(parent, 'div', { class: 'panel', role: 'img', 'aria-label': chart.title });
      this.log = { x: chart.x[2], y: chart.y[2] };
      this.hidden = new Set();
      // Lines are joined by x, and of points with the same x only the last is kept: a step begins just before it.
      const before = (x, next) => (x === next ? x - Math.abs(x) * 1e-9 : x);
      const xs = ({ points }) => points.map(([x], at) => before(x, points[at + 1]?.[0]));
      this.data = uPlot.join(chart.lines.map((line) => [xs(line), line.points.map((point) => point[1])]));
      this.draw();
    }

    // The ends of an axis: those that the chart has, or those of its data with some room.
    ends(axis) {
      const at = axis === 'x' ? 0 : 1;
      const [, , , low, high] = this.chart[axis];
      const values = this.chart.lines.filter((line) => line.kind !== 'law').flatMap((line) => line.points)
        .flatMap((point) => (at ? [point[1], point[2], point[3]] : [point[0]]))
        .filter((value) => value !== null && (!this.log[axis] || value > 0));
      let [from, to] = [low ?? Math.min(...values), high ?? Math.max(...values)];
      if (this.log[axis]) {
        from = from > 0 ? from : Math.min(...values);
        if (low === null) [from, to] = [from / 1.15, to * 1.15];
        return to > from ? [from, to] : [from / 2, from * 2];
      }
      if (low === null) [from, to] = [Math.min(0, from), Math.max(0, to + (to - Math.min(0, from)) * 0.05)];
      if (this.chart[axis][2]) from = 0;
      return to > from ? [from, to] : [from, from + 1];
    }

    // The labels along the horizontal axis: those that do not reach into the one before.
    labels(plot, ticks) {
      const { min, max } = plot.scales.x;
      const room = plot.width - 80;
      let free = -Infinity;
      return ticks.map((tick) => {
        if (tick === null) return '';
        const part = this.log.x ? Math.log(tick / min) / Math.log(max / min) : (tick - min) / (max - min);
        const text = shown(tick, this.chart.x[1]);
        const half = text.length * 3.5;
        if (part * room - half < free) return '';
        free = part * room + half + 4;
        return text;
      });
    }

    draw() {
      this.plot?.destroy();
      const { chart, log } = this;
      const scale = (axis) => {
        const [min, max] = this.ends(axis);
        return { time: false, auto: false, min, max, distr: log[axis] ? 3 : 1, range: (_, low, high) => [low, high] };
      };
      const [ink, rule] = [color('--muted'), color('--rule')];
      const axis = (name, more) => ({
        splits: log[name] ? (_, __, low, high) => decades(low, high) : undefined,
        filter: (_, splits) => splits,
        label: chart[name][0].replace(/, logarithmic$/, ''), stroke: ink, font: '12px system-ui', labelFont: '12px system-ui', labelSize: 18,
        grid: { stroke: rule, width: 1 }, ticks: { stroke: rule, width: 1, size: 4 },
        values: (plot, ticks) => (name === 'x' ? this.labels(plot, ticks) : ticks.map((tick) => (tick === null ? '' : shown(tick, chart.y[1])))),
        ...more,
      });
      const series = chart.lines.map((line) => {
        const stroke = color(`--s${line.look}`);
        const points = line.kind === 'points' || line.kind === 'scatter';
        return {
          label: line.name, stroke, spanGaps: true, show: !this.hidden.has(line.look),
          width: line.kind === 'scatter' ? 0 : line.kind === 'law' || line.kind === 'area' ? 1 : 1.9,
          dash: line.kind === 'area' ? [] : DASHES[line.look],
          fill: line.kind === 'area' ? stroke + '4d' : undefined,
          points: { show: points, size: 7, stroke, fill: line.look ? stroke : color('--page') },
          paths: line.kind === 'steps' ? uPlot.paths.stepped({ align: 1 }) : uPlot.paths.linear(),
        };
      });
      const options = {
        width: Math.max(200, this.root.clientWidth), height: this.height(),
        legend: { show: false },
        scales: { x: scale('x'), y: scale('y') },
        axes: [axis('x', { size: 36 }), axis('y', { size: 62 })],
        series: [{}, ...series],
        cursor: {
          sync: { key: this.figure.dataset.name, scales: ['x', null] },
          drag: { x: true, y: true, uni: 24 },
          points: { size: 6 },
          bind: { dblclick: () => () => this.reset() },
        },
        hooks: { setCursor: [() => this.tell()], draw: [(plot) => this.decorate(plot)] },
      };
      this.plot = new uPlot(options, this.data, this.root);
      this.tip = make(this.plot.over, 'div', { class: 'tip', hidden: '' });
    }

    height() {
      return this.root.clientWidth > 500 ? Math.max(300, this.chart.height) : this.chart.height;
    }

    resize() {
      if (this.root.clientWidth > 0) this.plot.setSize({ width: this.root.clientWidth, height: this.height() });
    }

    reset() {
      for (const axis of ['x', 'y']) {
        const [min, max] = this.ends(axis);
        this.plot.setScale(axis, { min, max });
      }
    }

    hide(look, hidden) {
      if (hidden) this.hidden.add(look);
      else this.hidden.delete(look);
      this.chart.lines.forEach((line, at) => {
        if (line.look === look) this.plot.setSeries(at + 1, { show: !hidden });
      });
    }

    flip(axis, log) {
      this.log[axis] = log;
      this.draw();
    }

    // Intervals of points, thresholds and levels, which the library has no series for.
    decorate(plot) {
      const { ctx } = plot;
      const place = (value, axis) => plot.valToPos(value, axis, true);
      const { left, top, width, height } = plot.bbox;
      ctx.save();
      ctx.beginPath();
      ctx.rect(left, top, width, height);
      ctx.clip();
      ctx.lineWidth = 1.4 * devicePixelRatio;
      for (const line of this.chart.lines) {
        if (this.hidden.has(line.look)) continue;
        ctx.strokeStyle = color(`--s${line.look}`);
        for (const [x, , low, high] of line.points) {
          if (low === null || high === null) continue;
          const at = place(x, 'x');
          ctx.beginPath();
          ctx.moveTo(at, place(low, 'y'));
          ctx.lineTo(at, place(high, 'y'));
          ctx.stroke();
        }
      }
      ctx.strokeStyle = ctx.fillStyle = color('--muted');
      ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
      ctx.lineWidth = devicePixelRatio;
      ctx.font = `${11 * devicePixelRatio}px system-ui`;
      for (const [value, label] of this.chart.marks) {
        const at = place(value, 'x');
        ctx.beginPath();
        ctx.moveTo(at, top);
        ctx.lineTo(at, top + height);
        ctx.stroke();
        ctx.textAlign = at > left + width / 2 ? 'right' : 'left';
        ctx.fillText(` ${label} `, at, top + 11 * devicePixelRatio);
      }
      for (const [value, label] of this.chart.levels) {
        const at = place(value, 'y');
        ctx.beginPath();
        ctx.moveTo(left, at);
        ctx.lineTo(left + width, at);
        ctx.stroke();
        ctx.textAlign = 'left';
        ctx.fillText(` ${label}`, left, at - 3 * devicePixelRatio);
      }
      ctx.restore();
    }

    // The values under the pointer.
    tell() {
      const { plot, tip, chart } = this;
      const { idx, left, top } = plot.cursor;
      if (idx === null || idx === undefined || left < 0) return void (tip.hidden = true);
      const value = (column) => {
        // What other lines have in between is not theirs: their last value, or else their next.
        let at = idx;
        while (at >= 0 && column[at] === undefined) at -= 1;
        if (at >= 0) return column[at];
        at = idx;
        while (at < column.length && column[at] === undefined) at += 1;
        return column[at];
      };
      tip.replaceChildren();
      make(tip, 'b', {}, shown(this.data[0][idx], chart.x[1]));
      chart.lines.forEach((line, at) => {
        const y = value(this.data[at + 1]);
        if (this.hidden.has(line.look) || y === undefined || y === null) return;
        make(make(tip, 'div', { class: `c${line.look}` }), 'span', { class: 'key' }).after(` ${line.name}: ${shown(y, chart.y[1])}`);
      });
      tip.hidden = false;
      const [width, height] = [plot.over.clientWidth, plot.over.clientHeight];
      tip.style.left = left > width / 2 ? `${left - tip.offsetWidth - 12}px` : `${left + 12}px`;
      tip.style.top = `${Math.max(0, Math.min(top - tip.offsetHeight / 2, height - tip.offsetHeight))}px`;
    }
  }

  // A figure whose charts were drawn again.
  class Live {
    constructor(figure, charts) {
      this.figure = figure;
      this.root = document.createElement('div');
      this.root.className = 'redrawn' + (figure.dataset.choice || figure.dataset.columns === '1' ? ' one' : figure.dataset.columns === '3' ? ' three' : '');
      figure.querySelector('.drawn').after(this.root);
      figure.classList.add('is-live');
      this.panels = charts.map((chart) => {
        const cell = make(this.root, 'div');
        if (chart.heading && !figure.dataset.choice) make(cell, 'h4', {}, chart.heading);
        return { cell, panel: new Panel(figure, chart, cell) };
      });
      this.tools();
      new ResizeObserver(() => this.panels.forEach(({ panel }) => panel.resize())).observe(this.root);
    }

    each(act) {
      this.panels.forEach(({ panel }) => act(panel));
    }

    tools() {
      const bar = document.createElement('div');
      bar.className = 'live-tools';
      const headings = this.panels.map(({ panel }) => panel.chart.heading);
      if (this.figure.dataset.choice && headings.length > 1) {
        this.tabs = make(bar, 'div', { role: 'group', 'aria-label': this.figure.dataset.choice });
        headings.forEach((heading) => {
          make(this.tabs, 'button', { type: 'button' }, heading).addEventListener('click', () => {
            for (const other of lives) if (other.figure.dataset.choice === this.figure.dataset.choice) other.choose(heading);
          });
        });
      }
      for (const axis of ['x', 'y']) {
        const at = axis === 'x' ? 0 : 1;
        const any = (wanted) => this.panels.some(({ panel }) => panel.chart.lines.some((line) => line.points.some((point) => wanted(point[at]))));
        if (!any((value) => value > 0) || any((value) => value < 0)) continue;
        const button = make(bar, 'button', { type: 'button', class: 'axis' });
        const say = () => {
          button.textContent = `${axis}: ${this.panels[0].panel.log[axis] ? 'log' : 'linear'}`;
          button.setAttribute('aria-label', `${axis} axis is ${this.panels[0].panel.log[axis] ? 'logarithmic' : 'linear'}, change it`);
        };
        button.addEventListener('click', () => {
          const log = !this.panels[0].panel.log[axis];
          this.each((panel) => panel.flip(axis, log));
          say();
        });
        say();
      }
      const reset = make(bar, 'button', { type: 'button', class: 'reset' }, 'Reset zoom');
      reset.addEventListener('click', () => this.each((panel) => panel.reset()));
      this.root.before(bar);
      if (this.tabs) this.choose(headings.includes(chosen[this.figure.dataset.choice]) ? chosen[this.figure.dataset.choice] : headings[0]);
    }

    // Shows the chart of this heading alone.
    choose(heading) {
      if (!this.tabs || !this.panels.some(({ panel }) => panel.chart.heading === heading)) return;
      chosen[this.figure.dataset.choice] = heading;
      this.panels.forEach(({ cell, panel }, at) => {
        cell.hidden = panel.chart.heading !== heading;
        this.tabs.children[at].setAttribute('aria-pressed', String(!cell.hidden));
        panel.resize();
      });
    }
  }

  const lives = [];
  const chosen = {};
  // Looks of variants that are hidden on the whole page, and of series by figure.
  const off = new Set();

  async function enliven(figure) {
    const live = new Live(figure, chartsOf(figure, await numbersOf(figure)));
    lives.push(live);
    for (const item of figure.querySelectorAll('.legend [aria-pressed="false"]')) live.each((panel) => panel.hide(Number(item.parentElement.dataset.look), true));
    if (figure.dataset.by === 'variant') for (const look of off) live.each((panel) => panel.hide(look, true));
  }

  // Names in legends hide their series.
  function switches(figure) {
    for (const item of figure.querySelectorAll('.legend li[data-look]')) {
      const name = item.querySelector('span');
      const button = make(item, 'button', { type: 'button', 'aria-pressed': 'true', title: 'Hide or show' });
      button.append(...name.childNodes);
      name.replaceWith(button);
      button.addEventListener('click', () => {
        const hide = button.getAttribute('aria-pressed') === 'true';
        button.setAttribute('aria-pressed', String(!hide));
        const look = Number(item.dataset.look);
        lives.filter((live) => live.figure === figure).forEach((live) => live.each((panel) => panel.hide(look, hide)));
      });
    }
  }

  // Variants to show, beside the contents: hidden ones fade in all charts and tables.
  function variants() {
    const names = JSON.parse(document.body.dataset.variants ?? '[]');
    const contents = document.querySelector('nav.contents');
    if (!contents || names.length < 2 || names.length > DASHES.length) return;
    const group = make(contents, 'div', { class: 'variants', role: 'group', 'aria-label': 'Variants to show' });
    names.forEach((name, look) => {
      const button = make(group, 'button', { type: 'button', 'aria-pressed': 'true', class: `c${look}` });
      make(button, 'span', { class: 'key' });
      button.append(name);
      button.addEventListener('click', () => {
        const hide = !off.has(look);
        if (hide) off.add(look);
        else off.delete(look);
        button.setAttribute('aria-pressed', String(!hide));
        document.body.dataset.off = [...off].join(' ');
        lives.filter((live) => live.figure.dataset.by === 'variant').forEach((live) => live.each((panel) => panel.hide(look, hide)));
        for (const own of document.querySelectorAll(`figure[data-by="variant"] .legend li[data-look="${look}"] button`)) own.setAttribute('aria-pressed', String(!hide));
      });
    });
  }

  // The section in view is marked in the list of contents.
  function follow() {
    const links = new Map([...document.querySelectorAll('nav.contents a')].map((link) => [link.hash.slice(1), link]));
    const mark = () => {
      let current = null;
      for (const [id, link] of links) {
        link.removeAttribute('aria-current');
        if (document.getElementById(id)?.getBoundingClientRect().top < innerHeight * 0.3) current = link;
      }
      current?.setAttribute('aria-current', 'true');
    };
    addEventListener('scroll', mark, { passive: true });
    mark();
    // A link to what is folded opens it.
    const open = () => {
      for (let at = document.getElementById(decodeURIComponent(location.hash.slice(1))); at; at = at.parentElement) {
        if (at.tagName === 'DETAILS') at.open = true;
        else at.querySelector(':scope > details')?.setAttribute('open', '');
      }
    };
    addEventListener('hashchange', open);
    open();
    if (innerWidth < 1240) document.querySelector('nav.contents details')?.removeAttribute('open');
  }

  follow();
  variants();
  if ('DecompressionStream' in window && 'IntersectionObserver' in window) {
    const near = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) {
        near.unobserve(target);
        enliven(target);
      }
    }, { rootMargin: '400px' });
    for (const figure of document.querySelectorAll('figure[data-live]')) {
      switches(figure);
      near.observe(figure);
    }
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => lives.forEach((live) => live.each((panel) => panel.draw())));
  }
}
