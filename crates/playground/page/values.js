// Values of settings: by path, and as numbers with units.
'use strict';
const values = (() => {
  const UNITS = {
    B: 1, KB: 1e3, MB: 1e6, GB: 1e9, ns: 1, us: 1e3, ms: 1e6, s: 1e9, bps: 1, Kbps: 1e3, Mbps: 1e6, Gbps: 1e9, Tbps: 1e12,
  };

  // The value at a path. Elements of a list are found by number or by name.
  function at(settings, path) {
    return path.split('.').reduce((value, key) => {
      if (Array.isArray(value)) return value[key] ?? value.find((element) => element.name === key);
      return value && typeof value === 'object' ? value[key] : undefined;
    }, settings);
  }

  // A value as a number of units; NaN if it is none.
  function number(value, unit) {
    if (typeof value === 'number') return value;
    const parts = /^\s*([-+.\deE]+?)\s*([A-Za-z]*)\s*$/.exec(value ?? '');
    if (!parts) return NaN;
    return (Number(parts[1]) * (UNITS[parts[2]] ?? 1)) / (UNITS[unit] ?? 1);
  }

  // The other way round, as `--set` takes it.
  const written = (value, unit = '') => `${Number(value.toPrecision(8))}${unit}`;

  // For people.
  const shown = (value, unit = '') => `${Number(value.toPrecision(4)).toLocaleString('en')}${unit ? '\u00a0' + unit.replace('us', 'µs') : ''}`;

  return { at, number, written, shown };
})();
