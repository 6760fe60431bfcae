// The page: what is compared, runs of it, and results.
'use strict';
{
  const presets = JSON.parse(document.getElementById('presets').textContent);
  const get = (id) => document.getElementById(id);
  const calm = matchMedia('(prefers-reduced-motion: reduce)');

  // What a link holds. `sides` are the two settings that are compared: a variant of the text, and what the
  // controls change in it. `shared` is what they change in both.
  let state = null;
  // The request that runs.
  let current = null;
  // How often the state has changed; results of an older one are not shown.
  let version = 0;
  // The timer of the next run, or 0.
  let waiting = 0;
  let lastScenario = null;

  const presetOf = (name) => presets.find((preset) => preset.name === name) ?? presets[0];

  function begin(name) {
    const preset = presetOf(name);
    return { preset: preset.name, text: preset.text, shared: {}, sides: preset.sides.map((variant) => ({ variant, set: {} })) };
  }

  // Puts a state on the page.
  function take(next) {
    state = next;
    const preset = presetOf(state.preset);
    get('preset').value = preset.name;
    editor.text = state.text;
    controls.arrange(preset.controls, state, () => current !== null);
    lastScenario = null;
    run();
  }

  function request() {
    const list = presetOf(state.preset).controls;
    const sides = state.sides.map(({ variant, set }) => ({ variant, set: controls.settingsOf(list, state.shared, set) }));
    return { do: 'run', text: state.text, sides };
  }

  // Messages.

  function setStatus(kind, text) {
    const line = get('status');
    line.className = kind;
    get('said').textContent = text;
  }

  function stale(is) {
    for (const id of ['results', 'answer']) get(id).classList.toggle('stale', is);
  }

  function listProblems(problems, refused) {
    editor.show(problems.filter(({ file }) => file === 'scenario.toml'));
    const list = get('problems');
    list.replaceChildren();
    for (const problem of problems) {
      const item = document.createElement('li');
      item.className = problem.severity;
      const place = document.createElement(problem.line && problem.file === 'scenario.toml' ? 'button' : 'span');
      place.className = 'place';
      place.textContent = problem.file === 'scenario.toml' ? (problem.line ? `line ${problem.line}` : 'scenario') : 'control';
      if (place.tagName === 'BUTTON') {
        place.type = 'button';
        place.addEventListener('click', () => {
          openText();
          editor.goTo(problem);
        });
      }
      const what = document.createElement('b');
      what.textContent = `${problem.severity}: ${problem.message}`;
      const help = document.createElement('span');
      help.textContent = `help: ${problem.help}`;
      item.append(place, what, help);
      list.append(item);
    }
    if (refused) {
      const item = document.createElement('li');
      item.className = 'error';
      item.textContent = refused;
      list.append(item);
    }
    list.hidden = !list.children.length;
    get('open-text').classList.toggle('wrong', problems.some(({ severity, line }) => severity === 'error' && line));
  }

  // Runs.

  function progress({ run, runs, now_ns: now, done }) {
    const bar = get('bar');
    bar.hidden = false;
    bar.value = (run + done) / runs;
    const time = now >= 1e6 ? `${(now / 1e6).toFixed(2)} ms` : `${(now / 1e3).toFixed(1)} µs`;
    setStatus('busy', `Run ${run + 1} of ${runs}: ${time} simulated`);
  }

  async function run() {
    clearTimeout(waiting);
    waiting = 0;
    version += 1;
    const mine = version;
    current?.stop();
    stale(true);
    setStatus('busy', 'Running');
    get('again').hidden = true;
    const asked = simulator.ask(request(), (reached) => mine === version && progress(reached));
    current = asked;
    // What is there at once needs no button, which would only flicker.
    const late = setTimeout(() => mine === version && (get('stop').hidden = false), 250);
    let reply = null;
    let fault = '';
    try {
      reply = await asked.done;
    } catch (error) {
      fault = error.message;
    }
    clearTimeout(late);
    if (mine !== version) return;
    current = null;
    get('bar').hidden = get('stop').hidden = true;
    if (fault) {
      listProblems([], fault);
      get('again').hidden = false;
      return setStatus('error', 'The run failed; the results are those of before.');
    }
    get('again').hidden = reply !== null;
    if (reply === null) return setStatus('error', 'Stopped. The results are those of before.');
    listProblems(reply.problems, reply.refused);
    if (reply.scenario) describe(reply.scenario);
    if (!reply.results) return setStatus('error', 'This cannot run; the results are those of before.');
    if (!reply.problems.some(({ file }) => file !== 'scenario.toml')) remember();
    show(reply.results);
  }

  // The variants of both sides, and the values of all controls.
  function describe(scenario) {
    lastScenario = scenario;
    get('question').textContent = scenario.question || scenario.name;
    for (const side of [0, 1]) {
      const select = get(`side-${side}`);
      const { variant } = scenario.sides[side];
      select.replaceChildren(...scenario.variants.map((name) => new Option(name, name)));
      select.value = variant;
      state.sides[side].variant = variant;
    }
    controls.show(scenario.sides);
    get('traffic').hidden = scenario.same_traffic;
  }

  function show(results) {
    const seconds = results.runs.reduce((sum, run) => sum + run.wall_s, 0);
    const hops = results.runs.reduce((sum, { hops }) => sum + hops, 0);
    const runs = results.runs.length === 1 ? '1 run' : `${results.runs.length} runs`;
    setStatus('done', `${runs}, ${hops.toLocaleString('en')} packet-hops in ${seconds.toFixed(2)} s`);
    const rows = results.runs.map(({ side, variant, replication, fingerprint }) => {
      const row = document.createElement('tr');
      for (const text of [['A', 'B'][side], variant, String(replication), fingerprint]) {
        const cell = document.createElement('td');
        cell.textContent = text;
        row.append(cell);
      }
      return row;
    });
    get('fingerprints').replaceChildren(...rows);
    get('command').textContent = command();
    get('answer').textContent = results.answer.join(' ');
    display(results.page);
  }

  // The same on the command line.
  function command() {
    const word = (text) => (/^[\w.=/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
    const { name, variants, sides } = lastScenario;
    return sides.map(({ variant, set }) => {
      const settings = set.map((setting) => ` --set ${word(setting)}`);
      const one = variants.length > 1 ? ` --variant ${word(variant)}` : '';
      return `floodway run ${name}.toml${one}${settings.join('')}`;
    }).join('\n');
  }

  // Results are a page of their own, made by the simulator. The next one replaces it when it is there, with
  // the playback where it was.
  let frame = null;
  const player = (of) => of?.contentDocument?.querySelector('.playback.live');

  function display(page) {
    const results = get('results');
    results.querySelectorAll('iframe.next').forEach((other) => other.remove());
    const mine = version;
    const next = document.createElement('iframe');
    next.className = 'next';
    next.title = 'Results';
    next.srcdoc = page;
    next.addEventListener('load', async () => {
      const before = player(frame);
      const slider = before?.querySelector('input[type="range"]');
      const playing = before?.querySelector('.play')?.textContent.startsWith('❚❚');
      await lively(next);
      if (!next.isConnected) return;
      const now = player(next);
      if (now) {
        const position = now.querySelector('input[type="range"]');
        if (slider) {
          position.value = slider.value;
          position.dispatchEvent(new Event('input'));
        }
        if (slider ? playing : !calm.matches) now.querySelector('.play').click();
      }
      const { documentElement } = next.contentDocument;
      const fit = () => (next.style.height = `${documentElement.getBoundingClientRect().height}px`);
      new ResizeObserver(fit).observe(documentElement);
      fit();
      frame?.remove();
      next.className = '';
      frame = next;
      // Unless something has changed in the meantime.
      stale(waiting !== 0 || version !== mine);
    });
    results.append(next);
  }

  // Waits for the playback of a page, if it has one, but not for long.
  async function lively(of) {
    for (let tries = 0; tries < 50; tries += 1) {
      if (!of.contentDocument?.querySelector('#playback') || player(of)) return;
      await new Promise((go) => setTimeout(go, 10));
    }
  }

  // The address holds the state, so that a reload loses nothing.
  async function remember() {
    // A link that is broken stays to be looked at.
    if (!get('notice').hidden) return;
    try {
      history.replaceState(null, '', await share.pack(state));
    } catch {
      // Too long for an address: what the editor holds is still there.
    }
  }

  // Changes.

  function soon(ms) {
    get('notice').hidden = true;
    clearTimeout(waiting);
    stale(true);
    waiting = setTimeout(run, ms);
  }

  function openText(open = true) {
    get('open-text').setAttribute('aria-selected', String(open));
    get('open-controls').setAttribute('aria-selected', String(!open));
    get('open-text').tabIndex = open ? 0 : -1;
    get('open-controls').tabIndex = open ? -1 : 0;
    get('text-panel').hidden = !open;
    get('controls-panel').hidden = open;
  }

  function save(name, text) {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([text], { type: 'application/toml' }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  async function openLink() {
    let held = null;
    try {
      held = await share.unpack(location.hash);
    } catch (error) {
      get('notice').textContent = error.message;
      get('notice').hidden = false;
      return false;
    }
    get('notice').hidden = true;
    if (held) take(held);
    return held !== null;
  }

  function listen() {
    editor.onChange(() => {
      state.text = editor.text;
      soon(500);
    });
    controls.onChange(() => soon(100));
    get('preset').addEventListener('change', (event) => {
      get('notice').hidden = true;
      take(begin(event.target.value));
    });
    get('reset').addEventListener('click', () => take(begin(state.preset)));
    for (const side of [0, 1]) {
      get(`side-${side}`).addEventListener('change', (event) => {
        state.sides[side] = { variant: event.target.value, set: {} };
        run();
      });
    }
    get('again').addEventListener('click', run);
    get('stop').addEventListener('click', () => current?.stop());
    get('save').addEventListener('click', () => save(`${lastScenario?.name ?? 'scenario'}.toml`, state.text));
    get('share').addEventListener('click', async () => {
      try {
        const address = location.href.split('#')[0] + (await share.pack(state));
        history.replaceState(null, '', address);
        get('link').value = address;
        get('linked').hidden = false;
        get('link').select();
        await navigator.clipboard.writeText(address);
        get('copied').textContent = 'Copied.';
      } catch (error) {
        get('copied').textContent = get('linked').hidden ? '' : 'Copy it from here.';
        if (get('linked').hidden) {
          get('notice').textContent = error.message;
          get('notice').hidden = false;
        }
      }
    });
    get('unlink').addEventListener('click', () => {
      get('linked').hidden = true;
      get('share').focus();
    });
    get('open-text').addEventListener('click', () => openText());
    get('open-controls').addEventListener('click', () => openText(false));
    get('tabs').addEventListener('keydown', (event) => {
      if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
      openText(get('text-panel').hidden);
      get('tabs').querySelector('[aria-selected="true"]').focus();
    });
    addEventListener('hashchange', openLink);
  }

  async function start() {
    const missing = simulator.missing();
    if (missing) {
      get('without').hidden = false;
      get('lacking').textContent = missing;
      get('playground').hidden = true;
      return;
    }
    for (const { name, title } of presets) get('preset').append(new Option(title, name));
    listen();
    setStatus('busy', 'Starting the simulator');
    if (!(await openLink())) take(begin(presets[0].name));
    const reply = await simulator.ask({ do: 'schema' }).done;
    editor.schema = reply.schema;
  }

  start();
}
