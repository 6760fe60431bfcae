// The simulator in the page: unpacks it once, and gives each request a worker of its own. To stop a run is
// to end its worker, because a worker that computes hears nothing, and memory that it could look at
// (SharedArrayBuffer) is not to be had in a page that is opened as a file.
'use strict';
const simulator = (() => {
  const source = (id) => document.getElementById(id).textContent;
  let compiled = null;
  let address = null;

  async function compile() {
    const packed = Uint8Array.from(atob(source('program').trim()), (letter) => letter.charCodeAt(0));
    const whole = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
    return WebAssembly.compile(await new Response(whole).arrayBuffer());
  }

  // Why this browser cannot run it, or an empty text.
  function missing() {
    if (typeof WebAssembly !== 'object') return 'WebAssembly';
    if (typeof Worker !== 'function') return 'workers';
    if (typeof DecompressionStream !== 'function') return 'DecompressionStream';
    return '';
  }

  // What went wrong in a run, in words that help.
  function words(fault) {
    if (/memory allocation of|out of memory|Out of memory|RangeError/.test(fault)) {
      return 'This needs more memory than the page can have. Make it smaller, with fewer hosts, flows or samples, or run it with the program.';
    }
    return `The simulator has stopped with a fault. Please report it with the scenario. ${fault}`;
  }

  // Starts a request. `done` is a promise of the reply; `stop()` makes it null.
  function ask(request, onProgress = () => {}) {
    let stop = () => {};
    const done = new Promise((resolve, reject) => {
      let worker = null;
      let ended = false;
      const end = (act, value) => {
        if (ended) return;
        ended = true;
        worker?.terminate();
        act(value);
      };
      stop = () => end(resolve, null);
      compiled ??= compile();
      compiled.then((module) => {
        if (ended) return;
        address ??= URL.createObjectURL(new Blob([source('worker')], { type: 'text/javascript' }));
        worker = new Worker(address);
        worker.onmessage = ({ data }) => {
          if (data.progress && !ended) onProgress(data.progress);
          else if (data.reply) end(resolve, data.reply);
          else if (data.fault) end(reject, new Error(words(data.fault)));
        };
        worker.onerror = (event) => end(reject, new Error(words(event.message ?? 'the worker has failed')));
        worker.postMessage({ module, request });
      }).catch((error) => end(reject, new Error(words(String(error)))));
    });
    return { done, stop: () => stop() };
  }

  return { missing, ask };
})();
