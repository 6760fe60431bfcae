// The controls beside the scenario: a row for each setting, with one control for both sides or one for each.
// What they change is kept apart from the text, as `floodway run --set` has it.
'use strict';
const controls = (() => {
  const root = document.getElementById('controls');
  const NAMES = ['A', 'B'];
  let rows = [];
  let changed = () => {};

  function make(parent, name, properties = {}, text = '') {
    const made = document.createElement(name);
    for (const key in properties) made.setAttribute(key, properties[key]);
    if (text) made.textContent = text;
    parent.append(made);
    return made;
  }

  const kindOf = (control) => ['range', 'mechanism', 'member'].find((kind) => kind in control);
  const isBelow = (path, other) => path.startsWith(other + '.');

  // The settings of a side as arguments of `--set`: in the order of the controls, so that a mechanism is
  // there before its parameters; without the parameters of what was taken away or replaced.
  function settingsOf(list, shared, own) {
    const gone = [];
    const all = [];
    for (const control of list) {
      const { path } = control;
      const value = (control.shared ? shared : own)[path];
      if (value === undefined || gone.some((other) => isBelow(path, other) && !path.startsWith(`${other}.${own[other]}.`))) continue;
      if (value === 'false' || kindOf(control) === 'member') gone.push(path);
      all.push(`${path}=${value}`);
    }
    return all;
  }

  // One control, for one side or, without one, for both.
  class Cell {
    constructor(control, side, parent) {
      Object.assign(this, { control, side });
      this.root = make(parent, 'span', { class: side === null ? 'cell both' : 'cell' });
      const label = side === null ? control.label : `${control.label}, ${NAMES[side]}`;
      const { range, member } = control;
      if (range) {
        this.input = make(this.root, 'input', { type: 'range', 'aria-label': label, min: range.min, max: range.max, step: range.step });
        this.output = make(this.root, 'output');
        this.input.addEventListener('input', () => {
          this.say(Number(this.input.value));
          this.set(values.written(Number(this.input.value), range.unit));
        });
      } else if (member) {
        this.input = make(this.root, 'select', { 'aria-label': label });
        for (const name of member) make(this.input, 'option', { value: name }, name.replaceAll('_', ' '));
        this.input.addEventListener('change', () => this.set(this.input.value));
      } else {
        const box = make(this.root, 'label');
        this.input = make(box, 'input', { type: 'checkbox', 'aria-label': label });
        this.output = make(box, 'span');
        this.input.addEventListener('change', () => this.flip());
      }
    }

    get settings() {
      return this.side === null ? state.shared : state.sides[this.side].set;
    }

    set(value) {
      this.settings[this.control.path] = value;
      changed();
    }

    // A mechanism goes and comes back as it was.
    flip() {
      const { path, mechanism } = this.control;
      const before = this.settings[path];
      if (before === undefined) this.settings[path] = this.input.checked ? mechanism : 'false';
      else delete this.settings[path];
      changed();
    }

    say(value) {
      const { unit } = this.control.range;
      this.output.textContent = values.shown(value, unit);
      this.input.setAttribute('aria-valuetext', this.output.textContent);
    }

    // Shows the value that the setting has; whether it has one.
    show(settings) {
      const { path, range, member } = this.control;
      const value = values.at(settings, path);
      const there = value !== undefined && value !== null;
      if (range) {
        const number = values.number(value, range.unit);
        const fits = there && !Number.isNaN(number);
        this.root.classList.toggle('absent', !fits);
        this.input.disabled = !fits;
        if (!fits) {
          this.output.textContent = 'off';
          return false;
        }
        // What the text has may lie outside.
        this.input.min = Math.min(range.min, number);
        this.input.max = Math.max(range.max, number);
        if (document.activeElement !== this.input || !running()) this.input.value = number;
        this.say(Number(this.input.value));
        return true;
      }
      if (member) {
        const name = there && typeof value === 'object' ? Object.keys(value)[0] : value;
        if (!there) return false;
        if (![...this.input.options].some((option) => option.value === name)) make(this.input, 'option', { value: name }, String(name).replaceAll('_', ' '));
        this.input.value = name;
        return true;
      }
      this.input.checked = there && value !== false;
      this.output.textContent = this.input.checked ? 'on' : 'off';
      return settings.switch !== undefined;
    }
  }

  // Makes the rows.
  let state = null;
  let running = () => false;
  function arrange(list, current, isRunning) {
    [state, running] = [current, isRunning];
    root.replaceChildren();
    rows = list.map((control) => {
      const row = make(root, 'div', { class: 'row' });
      make(row, 'span', { class: 'name', title: control.path }, control.label);
      const cells = control.shared ? [new Cell(control, null, row)] : [0, 1].map((side) => new Cell(control, side, row));
      return { row, cells };
    });
  }

  // Shows the values of both sides; hides what neither has.
  function show(sides) {
    for (const { row, cells } of rows) {
      const there = cells.map((cell) => cell.show(sides[cell.side ?? 0].settings));
      row.hidden = !there.includes(true);
    }
  }

  return {
    arrange,
    show,
    settingsOf,
    onChange(act) {
      changed = act;
    },
  };
})();
