// The page of `floodway live`: it asks the program for what is new ten times a second, and sends what the user does. All that
// decides results is in the program; closing the page, or a second one, changes nothing.
(function () {
  'use strict';
  const SPAN_S = 60; // simulated seconds in the charts
  const POLL_MS = 100;
  const RETRY_MS = 1000;
  const $ = (id) => document.getElementById(id);
  const make = (tag, attributes, ...children) => {
    const node = Object.assign(document.createElement(tag), attributes);
    node.append(...children);
    return node;
  };
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  let fixed = null;
  let now = null;
  let next = null;
  let samples = [];
  let actions = [];
  let charts = [];
  let ended = false;

  const notice = (text) => {
    $('notice').textContent = text;
    $('notice').hidden = text === '';
  };

  async function send(command) {
    try {
      const answer = await fetch('do', {
        method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(command),
      });
      notice(answer.ok ? '' : await answer.text());
    } catch {
      notice('floodway does not answer: has it been stopped?');
    }
  }

  // Controls.

  // A control that the user is moving is not moved by what the program says.
  const busy = new Map();
  const touch = (key) => busy.set(key, performance.now() + 600);
  const isBusy = (key) => (busy.get(key) || 0) > performance.now();

  function buildKind(kind, number) {
    const id = `count-${number}`;
    const most = Math.min(fixed.most_flows, 20);
    const range = make('input', { type: 'range', id: `range-${number}`, min: 0, max: most, step: 1 });
    range.setAttribute('aria-label', `Number of flows of ${kind.name}`);
    const count = make('input', { type: 'number', id, min: 0, max: fixed.most_flows, step: 1 });
    const ask = (value) => {
      touch(number);
      send({ flows: { kind: kind.name, count: value } });
    };
    range.addEventListener('input', () => {
      touch(number);
      count.value = range.value;
    });
    range.addEventListener('change', () => ask(Number(range.value)));
    count.addEventListener('input', () => touch(number));
    count.addEventListener('change', () => {
      const value = Number(count.value);
      if (count.value === '' || !Number.isInteger(value) || value < 0) {
        notice(`the number of flows must be a whole number from 0 to ${fixed.most_flows}`);
      } else {
        range.max = Math.max(Number(range.max), Math.min(value, fixed.most_flows));
        range.value = value;
        ask(value);
      }
    });
    const label = make('label', { htmlFor: id }, make('span', { className: 'swatch' }), kind.name);
    const what = [kind.congestion !== kind.name && kind.congestion, kind.linux && 'Linux'].filter(Boolean).join(', ');
    if (what) label.append(' ', make('small', {}, what));
    const box = make('div', { className: 'kind' }, label, range, count);
    box.style.setProperty('--c', `var(--s${number % 6})`);
    return box;
  }

  function buildManagement(of, number) {
    const input = make('input', {
      type: 'radio', name: 'management', id: `management-${number}`, disabled: of.refused !== null,
    });
    input.addEventListener('change', () => {
      touch('management');
      send({ management: of.name });
    });
    const words = make('span', {}, of.name);
    if (of.aqm !== of.name) words.append(' ', make('small', {}, of.aqm));
    if (of.refused !== null) words.append(make('br', {}), make('small', {}, `not from here: ${of.refused}`));
    return make('label', { className: 'management' }, input, words);
  }

  function build() {
    document.title = `${fixed.scenario} · floodway live`;
    $('scenario').textContent = fixed.scenario;
    $('question').textContent = fixed.question;
    $('kinds').replaceChildren(...fixed.kinds.map(buildKind));
    $('managements').replaceChildren(...fixed.managements.map(buildManagement));
    $('port').replaceChildren(...fixed.ports.map((name, number) => make('option', { value: number }, name)));
    buildCharts();
  }

  $('pause').addEventListener('click', () => send({ pause: !now.paused }));
  $('speed').addEventListener('change', () => {
    touch('speed');
    send({ speed: $('speed').value === 'max' ? null : Number($('speed').value) });
  });
  $('port').addEventListener('change', () => {
    touch('port');
    send({ port: Number($('port').value) });
  });
  $('end').addEventListener('click', () => send({ end: null }));

  // Charts.

  const mean = (list) => (list.length ? list.reduce((sum, value) => sum + value, 0) / list.length : null);
  const QUEUE_COLORS = ['--s2', '--s3', '--s4', '--s5', '--s0', '--s1', '--s2'];
  // Queues that have been used; a queue that never is has no line.
  const used = () => {
    const seen = new Set();
    for (const sample of samples) {
      sample.queues.forEach((queue, number) => {
        if (queue.mean_ms !== null || queue.dropped > 0) seen.add(number);
      });
    }
    return [...seen].sort();
  };

  const series = {
    rates: () => fixed.kinds.map((kind, number) => ({
      label: kind.name, stroke: `--s${number % 6}`, of: (sample) => mean(sample.flows[number].rates_mbps),
    })),
    delays: () => used().flatMap((number) => [
      { label: `queue ${number}, mean`, stroke: QUEUE_COLORS[number], of: (sample) => delay(sample.queues[number]?.mean_ms) },
      { label: `queue ${number}, p99`, stroke: QUEUE_COLORS[number], dash: [4, 4], of: (sample) => delay(sample.queues[number]?.p99_ms) },
    ]),
    use: () => [{ label: 'utilization', stroke: '--s0', of: (sample) => 100 * sample.utilization }],
    signals: () => used().flatMap((number) => [
      { label: `queue ${number}, marked`, stroke: QUEUE_COLORS[number], of: (sample) => rate(sample.queues[number]?.marked) },
      { label: `queue ${number}, dropped`, stroke: QUEUE_COLORS[number], dash: [4, 4], of: (sample) => rate(sample.queues[number]?.dropped) },
    ]),
  };
  const rate = (count) => (count === undefined ? null : count / fixed.step_s);

  // A vertical line where an action took effect.
  const lines = {
    hooks: {
      draw: [(chart) => {
        const { ctx, bbox } = chart;
        ctx.save();
        ctx.strokeStyle = color('--zero');
        ctx.setLineDash([2, 3]);
        for (const { time_s: at } of actions) {
          if (at < chart.scales.x.min || at > chart.scales.x.max) continue;
          const x = Math.round(chart.valToPos(at, 'x', true)) + 0.5;
          ctx.beginPath();
          ctx.moveTo(x, bbox.top);
          ctx.lineTo(x, bbox.top + bbox.height);
          ctx.stroke();
        }
        ctx.restore();
      }],
    },
  };

  // Delays of two queues differ by two orders of magnitude.
  const LOG = {
    distr: 3,
    range: (_, low, high) => [10 ** Math.floor(Math.log10(low || 0.1)), 10 ** Math.ceil(Math.log10((high || 1) * 1.01))],
  };
  const LEAST_MS = 0.001;
  const delay = (ms) => (ms === undefined || ms === null ? null : Math.max(ms, LEAST_MS));

  function buildChart(id) {
    const box = $(id);
    box.replaceChildren();
    const of = series[id]();
    const axis = { stroke: color('--muted'), grid: { stroke: color('--rule'), width: 1 }, ticks: { stroke: color('--rule') } };
    const chart = new uPlot({
      width: Math.max(260, box.clientWidth), height: id === 'rates' || id === 'delays' ? 210 : 140,
      scales: {
        x: { time: false, range: () => window_s() },
        y: id === 'delays' ? LOG : { range: (_, low, high) => [0, id === 'use' ? 105 : Math.max(high || 0, 0.1) * 1.08] },
      },
      axes: [{ ...axis, values: (_, splits) => splits.map((at) => `${at} s`) }, { ...axis, size: 60 }],
      series: [
        { label: 'time', value: (_, at) => (at == null ? '–' : `${at.toFixed(1)} s`) },
        ...of.map(({ label, stroke, dash }) => ({
          label, stroke: color(stroke), dash, width: 1.5, points: { show: false }, spanGaps: false,
          value: (_, value) => (value == null ? '–' : format(value)),
        })),
      ],
      plugins: [lines],
      cursor: { drag: { x: false, y: false } },
    }, [[], ...of.map(() => [])], box);
    return { id, chart, of };
  }

  function buildCharts() {
    charts.forEach(({ chart }) => chart.destroy());
    charts = Object.keys(series).map(buildChart);
    drawn = used().join();
  }
  let drawn = '';

  const window_s = () => {
    const end = Math.max(now ? now.time_s : 0, 10);
    return [Math.max(0, end - SPAN_S), end];
  };
  const format = (value) => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3));

  window.addEventListener('resize', () => charts.forEach(({ id, chart }) => {
    chart.setSize({ width: Math.max(260, $(id).clientWidth), height: chart.height });
  }));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => fixed && (buildCharts(), draw()));

  function draw() {
    if (used().join() !== drawn) buildCharts();
    const times = samples.map((sample) => sample.time_s);
    charts.forEach(({ chart, of }) => chart.setData([times, ...of.map((one) => samples.map(one.of))]));
  }

  // Numbers: means of the last second.

  function number(id, label, text, colored) {
    let box = document.querySelector(`[data-number="${id}"]`);
    if (!box) {
      box = make('div', {}, make('dt', {}), make('dd', {}));
      box.dataset.number = id;
      $('numbers').append(box);
    }
    if (colored) box.style.setProperty('--c', `var(${colored})`);
    box.firstChild.textContent = label;
    box.lastChild.textContent = text;
  }

  function numbers() {
    const last = samples.slice(-Math.max(1, Math.round(1 / fixed.step_s)));
    if (last.length === 0) return;
    const over = (of) => mean(last.map(of).filter((value) => value !== null));
    const rates = fixed.kinds.map((_, kind) => over((sample) => mean(sample.flows[kind].rates_mbps)));
    fixed.kinds.forEach((kind, place) => {
      const text = rates[place] === null ? 'no flows' : `${format(rates[place])} Mb/s`;
      number(`rate-${place}`, `a flow of ${kind.name}`, text, `--s${place % 6}`);
    });
    if (rates.length >= 2) {
      const ratio = rates[0] !== null && rates[1] ? format(rates[0] / rates[1]) : '–';
      number('ratio', `${fixed.kinds[0].name} / ${fixed.kinds[1].name}`, ratio);
    }
    for (const place of used()) {
      const delay = over((sample) => sample.queues[place]?.mean_ms ?? null);
      number(`delay-${place}`, `delay, queue ${place}`, delay === null ? '–' : `${format(delay)} ms`, QUEUE_COLORS[place]);
    }
    number('use', 'utilization', `${(100 * over((sample) => sample.utilization)).toFixed(1)} %`);
  }

  // What the program says.

  const words = ({ flows, management }) => (flows ? `${flows.kind}: ${flows.count} flows` : `queue management: ${management}`);

  function show() {
    const pace = now.paused ? 'paused' : `${now.pace.toFixed(now.pace < 10 ? 1 : 0)} × real time`;
    $('clock').textContent = ended ? `ended at ${now.time_s.toFixed(1)} s` : `${now.time_s.toFixed(1)} s · ${pace}`;
    $('pause').textContent = now.paused ? 'Go on' : 'Pause';
    $('pause').setAttribute('aria-pressed', String(now.paused));
    now.flows.forEach((count, place) => {
      if (isBusy(place) || document.activeElement === $(`count-${place}`)) return;
      const range = $(`range-${place}`);
      range.max = Math.max(Number(range.max), count);
      range.value = count;
      $(`count-${place}`).value = count;
    });
    if (!isBusy('management')) $(`management-${now.management}`).checked = true;
    if (!isBusy('port')) $('port').value = now.port;
    if (!isBusy('speed')) {
      const value = now.speed === null ? 'max' : String(now.speed);
      if (![...$('speed').options].some((option) => option.value === value)) {
        $('speed').append(make('option', { value }, `${value} ×`));
      }
      $('speed').value = value;
    }
    const told = actions.slice(-30).reverse();
    $('actions').replaceChildren(...told.map(({ time_s: at, action }) =>
      make('li', {}, make('time', {}, `${at.toFixed(2)} s`), ' ', words(action))));
  }

  function take(state) {
    if (state.fixed) {
      fixed = state.fixed;
      samples = [];
    }
    const first = next === null || state.fixed;
    // Of another port there may be samples in between; they are not of the same queues.
    const port = now ? now.port : null;
    now = state.now;
    next = state.next;
    actions = state.actions;
    ended = now.ended;
    if (first) build();
    if (port !== null && port !== now.port) samples = [];
    samples.push(...state.samples.filter((sample) => sample.port === now.port || samples.length === 0));
    samples = samples.filter((sample) => sample.time_s > now.time_s - SPAN_S - 1);
    show();
    if (state.samples.length > 0 || first) {
      draw();
      numbers();
    }
  }

  function close(text) {
    ended = true;
    notice(text);
    document.querySelectorAll('button, select, input').forEach((control) => { control.disabled = true; });
  }

  let failures = 0;
  async function poll() {
    let wait = POLL_MS;
    try {
      const answer = await fetch(next === null ? 'state' : `state?since=${next}`);
      if (!answer.ok) throw new Error(await answer.text());
      take(await answer.json());
      if (failures > 0) notice('');
      failures = 0;
      if (ended && now.trouble) return close(`The run has ended: ${now.trouble}`);
      if (ended) return close('The run has ended. Its tables and its log are in the folder that floodway has printed.');
    } catch (error) {
      failures += 1;
      wait = RETRY_MS;
      if (failures >= 3) notice('floodway does not answer: has it been stopped?');
      if (!(error instanceof TypeError)) console.error(error);
    }
    setTimeout(poll, wait);
  }
  poll();
})();
