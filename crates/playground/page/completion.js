// What can be written at a place of a scenario, from the JSON Schema of scenario files.
'use strict';
const completion = (() => {
  // The alternatives that a schema consists of, without references.
  function alternatives(root, schema, depth = 0) {
    if (!schema || typeof schema !== 'object' || depth > 12) return [];
    const deeper = (other) => alternatives(root, other, depth + 1);
    const own = [schema];
    if (schema.$ref) own.push(...deeper(root.$defs?.[schema.$ref.split('/').pop()]));
    for (const kind of ['oneOf', 'anyOf', 'allOf']) own.push(...(schema[kind] ?? []).flatMap(deeper));
    if (schema.items) own.push(...deeper(schema.items));
    return own;
  }

  // The schemas of a key below other schemas.
  function below(root, schemas, key) {
    if (/^\d+$/.test(key)) return schemas;
    const named = schemas.map((schema) => schema.properties?.[key]).filter(Boolean);
    const found = named.length ? named : schemas.map((schema) => schema.additionalProperties).filter((more) => more && typeof more === 'object');
    return found.flatMap((schema) => alternatives(root, schema));
  }

  const at = (root, path) => path.reduce((schemas, key) => below(root, schemas, key), alternatives(root, root));

  const firstSentence = (text = '') => text.split('\n')[0];

  function keys(root, path) {
    const found = new Map();
    for (const { properties = {} } of at(root, path)) {
      for (const [name, schema] of Object.entries(properties)) {
        if (found.has(name)) continue;
        const description = alternatives(root, schema).map((other) => other.description).find(Boolean);
        found.set(name, { text: name, description: firstSentence(description) });
      }
    }
    return [...found.values()];
  }

  function constants(root, path) {
    const found = new Map();
    for (const schema of at(root, path)) {
      const all = schema.enum ?? ('const' in schema ? [schema.const] : schema.type === 'boolean' ? [true, false] : []);
      for (const value of all) found.set(String(value), { text: typeof value === 'string' ? `"${value}"` : String(value), description: firstSentence(schema.description) });
      // A member of a family can be written as its name.
      if (schema.properties && schema.required?.length === 1 && Object.keys(schema.properties).length === 1) {
        const [name] = schema.required;
        if (!found.has(name)) found.set(name, { text: `"${name}"`, description: firstSentence(schema.description) });
      }
    }
    return [...found.values()];
  }

  const parts = (dotted) => dotted.split('.').map((part) => part.trim().replaceAll('"', '')).filter(Boolean);

  // What can stand at a position of a text: the word to replace, from where, and what for.
  function propose(root, text, position) {
    const before = text.slice(0, position);
    const start = before.lastIndexOf('\n') + 1;
    const line = before.slice(start);
    if (line.includes('#')) return null;
    const headers = before.slice(0, start).match(/^\s*\[+[^\]\n]*\]+/gm);
    const table = headers ? parts(headers.at(-1).replace(/[[\]]/g, '')) : [];
    const choose = (word, all) => {
      const wanted = word.replaceAll('"', '');
      const fits = all.filter(({ text }) => text.replaceAll('"', '').startsWith(wanted) && text !== word);
      return fits.length ? { from: position - word.length, to: position, options: fits } : null;
    };
    let match = /^\s*\[+([\w.-]*)$/.exec(line);
    if (match) {
      const path = match[1].split('.');
      const word = path.pop();
      return choose(word, keys(root, path));
    }
    match = /^\s*(?:([\w.-]+)\s*=\s*\{(?:.*,)?\s*)?([\w.-]*)$/.exec(line);
    if (match) {
      const path = match[2].split('.');
      const word = path.pop();
      return choose(word, keys(root, [...table, ...parts(match[1] ?? ''), ...path]));
    }
    match = /^\s*(?:([\w.-]+)\s*=\s*\{(?:.*,)?\s*)?([\w.-]+)\s*=\s*("?[\w-]*)$/.exec(line);
    if (match) return choose(match[3], constants(root, [...table, ...parts(match[1] ?? ''), ...parts(match[2])]));
    return null;
  }

  return { propose };
})();
