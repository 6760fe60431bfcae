// Buttons below every figure that save its charts as a picture and its numbers as a table.
'use strict';
{
  // Around everything and between charts, and the height of a line of text.
  const PAD = 20;
  const GAP = 20;
  const LINE = 21;

  const style = document.getElementById('chart-style').content.textContent;

  // A text in lines of at most so many letters, where its words allow it.
  function lines(text, letters) {
    const lines = [];
    for (const word of text.split(' ')) {
      const longer = lines.length ? lines[lines.length - 1] + ' ' + word : '';
      if (longer && longer.length <= letters) lines[lines.length - 1] = longer;
      else lines.push(word);
    }
    return lines;
  }

  // An element of the same kind as its parent, which is part of a picture.
  function element(parent, name, attributes, text) {
    const made = document.createElementNS(parent.namespaceURI, name);
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    if (text) made.textContent = text;
    parent.append(made);
    return made;
  }

  // The charts of a figure on a card, with what stands above them.
  function picture(figure) {
    const all = [...figure.querySelectorAll('.legend svg, .drawn svg')];
    const root = all[0].cloneNode(false);
    for (const { name } of [...root.attributes]) root.removeAttribute(name);
    const caption = figure.querySelector('figcaption').textContent;
    element(root, 'title', {}, caption);
    element(root, 'style', {}, style);
    const card = element(root, 'rect', { class: 'card', rx: 8 });
    const place = (drawn, x, y) => {
      const copy = drawn.cloneNode(true);
      copy.setAttribute('x', x);
      copy.setAttribute('y', y);
      // Turned by an attribute, which all readers of SVG know.
      for (const turned of copy.querySelectorAll('.upright')) {
        turned.setAttribute('transform', 'rotate(-90)');
        turned.removeAttribute('class');
      }
      root.append(copy);
    };
    const size = (drawn, name) => Number(drawn.getAttribute(name));

    const charts = all.filter((drawn) => !drawn.closest('.narrow, .legend'));
    const columns = Math.min(Number(figure.dataset.columns), charts.length);
    const cell = Math.max(...charts.map((chart) => size(chart, 'width')));
    const inner = cell * columns + GAP * (columns - 1);
    let y = PAD;
    // Bold text of 14 pixels takes 8.4 a letter in the widest of the fonts.
    for (const line of lines(caption, Math.floor(inner / 8.4))) {
      element(root, 'text', { class: 'caption', x: PAD, y: y + 13 }, line);
      y += LINE;
    }
    y += 3;
    let x = PAD;
    let high = 0;
    for (const item of figure.querySelectorAll('.legend li')) {
      const drawn = item.querySelector('svg');
      // A scale has labels of its own.
      const own = [...item.childNodes].filter((node) => node !== drawn);
      const label = own.map((node) => node.textContent).join('').trim();
      const width = size(drawn, 'width') + 7 + label.length * 7.4;
      if (x > PAD && x + width > PAD + inner) {
        x = PAD;
        y += high;
      }
      high = Math.max(LINE, size(drawn, 'height') + 4);
      place(drawn, x, y + 2);
      element(root, 'text', { class: 'label', x: x + size(drawn, 'width') + 7, y: y + 12 }, label);
      x += width + 22;
    }
    if (high) y += high + 4;
    for (let row = 0; row < charts.length; row += columns) {
      const across = charts.slice(row, row + columns);
      across.forEach((chart, at) => place(chart, PAD + at * (cell + GAP), y));
      y += Math.max(...across.map((chart) => size(chart, 'height'))) + GAP;
    }
    const [width, height] = [inner + 2 * PAD, y - GAP + PAD];
    for (const sized of [root, card]) {
      sized.setAttribute('width', width);
      sized.setAttribute('height', height);
    }
    root.setAttribute('viewBox', `0 0 ${width} ${height}`);
    return new XMLSerializer().serializeToString(root) + '\n';
  }

  function save(name, type, text) {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  }

  for (const figure of document.querySelectorAll('figure[data-name]')) {
    const name = document.body.dataset.name + '-' + figure.dataset.name;
    const buttons = document.createElement('div');
    buttons.className = 'save';
    const button = (label, press) => {
      const made = document.createElement('button');
      made.type = 'button';
      made.textContent = label;
      made.addEventListener('click', press);
      buttons.append(made);
    };
    button('Save as SVG', () => save(name + '.svg', 'image/svg+xml', picture(figure)));
    if ('DecompressionStream' in window) {
      button('Save data as CSV', async () => save(name + '.csv', 'text/csv', await numbersOf(figure)));
    }
    figure.append(buttons);
  }
}
