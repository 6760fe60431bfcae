// The editor of the scenario's text: line numbers, marks where something is wrong, completions. A text area
// does the editing, so that undo, screen readers and the keyboard work as they do elsewhere. Tab leaves it.
'use strict';
const editor = (() => {
  const root = document.getElementById('editor');
  const area = root.querySelector('textarea');
  const gutter = root.querySelector('.gutter');
  const marks = root.querySelector('.marks');
  const list = document.getElementById('completions');
  let problems = [];
  let schema = null;
  let proposed = null;
  let chosen = 0;
  // Whether Enter takes the proposal: it was asked for, or chosen by an arrow.
  let wanted = false;

  function make(parent, name, properties = {}, text = '') {
    const made = document.createElement(name);
    for (const key in properties) made.setAttribute(key, properties[key]);
    made.textContent = text;
    parent.append(made);
    return made;
  }

  // Where a line begins; lines are counted from 1.
  function startOf(line) {
    let at = 0;
    for (let number = 1; number < line; number += 1) at = area.value.indexOf('\n', at) + 1;
    return at;
  }

  // The UTF-16 position of a column, which is counted in characters.
  function positionOf({ line, column }) {
    const start = startOf(line);
    const [text] = area.value.slice(start).split('\n', 1);
    return start + [...text].slice(0, column - 1).join('').length;
  }

  function draw() {
    const worst = new Map();
    for (const { line, severity } of problems) if (worst.get(line) !== 'error') worst.set(line, severity);
    const count = area.value.split('\n').length;
    gutter.replaceChildren();
    for (let line = 1; line <= count; line += 1) make(gutter, 'div', { class: worst.get(line) ?? '' }, String(line));
    marks.replaceChildren();
    let from = 0;
    const ranges = problems.map((problem) => [positionOf(problem), problem]).sort((a, b) => a[0] - b[0]);
    for (const [at, { width, severity }] of ranges) {
      if (at < from) continue;
      marks.append(area.value.slice(from, at));
      const word = [...area.value.slice(at, at + 4 * width)].slice(0, width).join('').split('\n', 1)[0];
      make(marks, 'mark', { class: severity }, word);
      from = at + word.length;
    }
    marks.append(area.value.slice(from) + '\n');
    scroll();
  }

  function scroll() {
    gutter.scrollTop = marks.scrollTop = area.scrollTop;
    marks.scrollLeft = area.scrollLeft;
  }

  function show(all) {
    problems = all.filter(({ line }) => line);
    const errors = problems.some(({ severity }) => severity === 'error');
    area.setAttribute('aria-invalid', String(errors));
    draw();
  }

  function goTo(problem) {
    const at = positionOf(problem);
    area.focus();
    area.setSelectionRange(at, at + problem.width);
    const height = parseFloat(getComputedStyle(area).lineHeight);
    area.scrollTop = Math.max(0, (problem.line - 1) * height - area.clientHeight / 3);
  }

  // Completions.

  function close() {
    proposed = null;
    list.hidden = true;
    area.removeAttribute('aria-activedescendant');
    area.setAttribute('aria-expanded', 'false');
  }

  function choose(index) {
    chosen = (index + proposed.options.length) % proposed.options.length;
    [...list.children].forEach((item, at) => item.setAttribute('aria-selected', String(at === chosen)));
    list.children[chosen].scrollIntoView({ block: 'nearest' });
    area.setAttribute('aria-activedescendant', list.children[chosen].id);
  }

  function open(asked) {
    proposed = schema && completion.propose(schema, area.value, area.selectionStart);
    if (!proposed) return close();
    wanted = asked;
    list.replaceChildren();
    proposed.options.forEach(({ text, description }, at) => {
      const item = make(list, 'li', { role: 'option', id: `completion-${at}` });
      make(item, 'b', {}, text);
      item.append(' ' + description);
      item.addEventListener('pointerdown', (event) => {
        event.preventDefault();
        choose(at);
        accept();
      });
    });
    list.hidden = false;
    area.setAttribute('aria-expanded', 'true');
    choose(0);
    const style = getComputedStyle(area);
    const before = area.value.slice(0, proposed.from).split('\n');
    const width = make(root, 'span', { class: 'ruler' }, '0');
    const letter = width.getBoundingClientRect().width;
    width.remove();
    const left = area.offsetLeft + parseFloat(style.paddingLeft) + before.at(-1).length * letter - area.scrollLeft;
    const top = parseFloat(style.paddingTop) + before.length * parseFloat(style.lineHeight) - area.scrollTop;
    list.style.left = `${Math.max(0, Math.min(left, root.clientWidth - list.offsetWidth))}px`;
    list.style.top = `${top}px`;
  }

  function accept() {
    const { from, to, options } = proposed;
    const { text } = options[chosen];
    area.focus();
    area.setSelectionRange(from, to);
    // The one way to change a text area that undo knows.
    if (!document.execCommand('insertText', false, text)) area.setRangeText(text, from, to, 'end');
    close();
    changed();
  }

  let changed = () => {};

  area.addEventListener('input', (event) => {
    problems = [];
    draw();
    changed();
    const typed = event.inputType === 'insertText' && /[\w.[-]/.test(event.data ?? '');
    if (typed || (proposed && event.inputType?.startsWith('delete'))) open(false);
    else close();
  });
  area.addEventListener('keydown', (event) => {
    if (event.key === ' ' && event.ctrlKey) {
      event.preventDefault();
      return open(true);
    }
    if (!proposed) return;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      wanted = true;
      choose(chosen + (event.key === 'ArrowDown' ? 1 : -1));
    } else if (event.key === 'Tab' && !event.shiftKey) accept();
    else if (event.key === 'Enter' && wanted) accept();
    else if (event.key === 'Escape') close();
    else return;
    event.preventDefault();
  });
  area.addEventListener('scroll', () => (scroll(), close()));
  area.addEventListener('blur', close);

  return {
    get text() {
      return area.value;
    },
    set text(text) {
      area.value = text;
      problems = [];
      close();
      draw();
    },
    set schema(read) {
      schema = read;
    },
    onChange(act) {
      changed = act;
    },
    show,
    goTo,
  };
})();
