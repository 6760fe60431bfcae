// What the page carries of a record, unpacked, and how it is said in words. playback.js shows it.
'use strict';
const recording = (() => {
  async function unpack(template) {
    const packed = atob(template.content.textContent);
    const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
    const whole = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
    return new Uint8Array(await new Response(whole).arrayBuffer());
  }

  // Gives the parts of a fabric names.
  function prepare(fabric) {
    fabric.rows = fabric.rows.map(([name, y, height]) => ({ name, y, height }));
    fabric.nodes = fabric.nodes.map(([name, label, row, x, width, hosts]) => {
      return { name, label, row, x, width, hosts };
    });
    fabric.ends = fabric.ends.map(([node, port, peer, back, x, top, links]) => {
      return { node, port, peer, back, x, top: top === 1, links };
    });
    // How far the ports of a switch are apart where they are closest, as a share of the width.
    const gaps = fabric.nodes.flatMap(({ hosts }, node) => {
      const of = (top) => fabric.ends.filter((end) => end.node === node && end.top === top);
      const apart = (ends) => ends.slice(1).map((end, at) => end.x - ends[at].x);
      const sorted = (ends) => ends.sort((a, b) => a.x - b.x);
      return hosts ? [] : [...apart(sorted(of(true))), ...apart(sorted(of(false)))];
    });
    fabric.gap = Math.min(1, ...gaps);
  }

  // Words, as the page has them.

  function digits(value) {
    if (value === 0) return '0';
    const whole = Math.floor(Math.log10(Math.abs(value)) + 1e-9);
    return value.toFixed(Math.max(0, 2 - whole));
  }

  function scaled(value, units) {
    const [scale, unit] = units.find(([scale]) => value >= scale) || units[units.length - 1];
    return digits(value / scale) + '\u00a0' + unit;
  }

  const bytesInWords = (bytes) => scaled(bytes, [[1e9, 'GB'], [1e6, 'MB'], [1e3, 'KB'], [1, 'B']]);

  // A time with as many decimals as samples need, all in the same unit so that nothing jumps.
  function clock(first, last, interval) {
    const units = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];
    const [scale, unit] = units.find(([scale]) => last >= scale) || units[3];
    const decimals = Math.min(6, Math.max(0, Math.ceil(-Math.log10(interval / scale))));
    return (ns) => (ns / scale).toFixed(decimals) + '\u00a0' + unit;
  }

  const counted = (many, one, more) => (many === 1 ? '1 ' + one : (many || 'no') + ' ' + more);

  // What a variant shows at a time: the sample before or at which it is, or none after its end.
  function sampleAt(variant, time) {
    const sample = Math.max(0, Math.ceil((time - variant.first) / variant.interval - 1e-6));
    return sample < variant.samples ? sample : -1;
  }

  return { unpack, prepare, sampleAt, bytesInWords, clock, counted };
})();
