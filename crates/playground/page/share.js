// A link that holds the scenario: the state of the page as JSON, deflated, in the fragment of its address,
// which browsers do not send to anybody.
'use strict';
const share = (() => {
  const KEY = '#s=';
  // Larger addresses are cut off by what they are pasted into.
  const LONGEST = 32_000;
  // What a link may unpack to.
  const LARGEST = 2_000_000;

  const through = (bytes, stream) => new Blob([bytes]).stream().pipeThrough(stream);

  async function pack(state) {
    const bytes = await new Response(through(JSON.stringify(state), new CompressionStream('deflate-raw'))).arrayBuffer();
    const letters = Array.from(new Uint8Array(bytes), (byte) => String.fromCharCode(byte)).join('');
    const fragment = KEY + btoa(letters).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
    if (fragment.length > LONGEST) throw new Error('The scenario is too long for a link. Save it as a file instead.');
    return fragment;
  }

  async function inflate(bytes) {
    const reader = through(bytes, new DecompressionStream('deflate-raw')).getReader();
    const parts = [];
    let length = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return new Blob(parts).text();
      length += value.length;
      if (length > LARGEST) throw new Error('too large');
      parts.push(value);
    }
  }

  const isText = (value) => typeof value === 'string';
  const isSettings = (value) => value && typeof value === 'object' && !Array.isArray(value) && Object.values(value).every(isText);
  const isSide = (side) => side && isText(side.variant) && isSettings(side.set);

  // The state that a fragment holds; null if it is none of ours. Throws if it is broken.
  async function unpack(fragment) {
    if (!fragment.startsWith(KEY)) return null;
    try {
      const letters = atob(fragment.slice(KEY.length).replaceAll('-', '+').replaceAll('_', '/'));
      const state = JSON.parse(await inflate(Uint8Array.from(letters, (letter) => letter.charCodeAt(0))));
      const { preset, text, shared, sides } = state;
      if (!isText(preset) || !isText(text) || !isSettings(shared) || sides?.length !== 2 || !sides.every(isSide)) throw new Error('not a state');
      return { preset, text, shared, sides };
    } catch {
      throw new Error('This link does not hold a scenario: it may have been cut off. Ask for it again; what is in the editor has not changed.');
    }
  }

  return { pack, unpack };
})();
