// Runs the simulator in a worker: one request, one instance, one memory. The program is compiled for WASI
// (preview 1), of which this has what it needs: standard streams, clocks, random bytes, and a file system
// without files.
'use strict';
{
  const OK = 0;
  const BAD_DESCRIPTOR = 8;
  const NO_FILE = 44;
  const NOT_SUPPORTED = 52;
  const ROOT = 3;

  // Thrown to end the program, which has no other way to end.
  class Exit extends Error {
    constructor(status) {
      super(`exit status ${status}`);
      this.status = status;
    }
  }

  function host(input, onLine) {
    let memory = null;
    let read = 0;
    let errors = '';
    const output = [];
    const decoder = new TextDecoder();
    const view = () => new DataView(memory.buffer);
    const put = (at, value) => (view().setUint32(at, value, true), OK);

    // The buffers of a call that reads or writes several at once.
    function buffers(at, count) {
      const data = view();
      return Array.from({ length: count }, (_, index) => {
        const [from, length] = [data.getUint32(at + 8 * index, true), data.getUint32(at + 8 * index + 4, true)];
        return new Uint8Array(memory.buffer, from, length);
      });
    }

    const calls = {
      fd_read(descriptor, at, count, result) {
        if (descriptor !== 0) return BAD_DESCRIPTOR;
        const before = read;
        for (const buffer of buffers(at, count)) {
          const part = input.subarray(read, read + buffer.length);
          buffer.set(part);
          read += part.length;
        }
        return put(result, read - before);
      },
      fd_write(descriptor, at, count, result) {
        if (descriptor !== 1 && descriptor !== 2) return BAD_DESCRIPTOR;
        let written = 0;
        for (const buffer of buffers(at, count)) {
          written += buffer.length;
          if (descriptor === 1) output.push(buffer.slice());
          else errors += decoder.decode(buffer, { stream: true });
        }
        const lines = errors.split('\n');
        errors = lines.pop();
        lines.forEach(onLine);
        return put(result, written);
      },
      clock_time_get(clock, _precision, result) {
        const ms = clock === 0 ? Date.now() : performance.now();
        view().setBigUint64(result, BigInt(Math.round(ms * 1e6)), true);
        return OK;
      },
      random_get(at, length) {
        // It takes at most 65,536 bytes.
        for (let from = 0; from < length; from += 65536) {
          crypto.getRandomValues(new Uint8Array(memory.buffer, at + from, Math.min(65536, length - from)));
        }
        return OK;
      },
      args_sizes_get: (count, size) => put(count, 0) || put(size, 0),
      args_get: () => OK,
      environ_sizes_get: (count, size) => put(count, 0) || put(size, 0),
      environ_get: () => OK,
      sched_yield: () => OK,
      proc_exit(status) {
        throw new Exit(status);
      },
      // One folder, in which nothing is found: files of a scenario are then missing, as they would be
      // elsewhere.
      fd_prestat_get(descriptor, result) {
        if (descriptor !== ROOT) return BAD_DESCRIPTOR;
        view().setUint8(result, 0);
        return put(result + 4, 1);
      },
      fd_prestat_dir_name(descriptor, at, length) {
        if (descriptor !== ROOT) return BAD_DESCRIPTOR;
        new Uint8Array(memory.buffer, at, length).set([47]);
        return OK;
      },
      path_open: () => NO_FILE,
      path_filestat_get: () => NO_FILE,
      fd_close: () => OK,
    };
    return {
      imports(module) {
        const named = WebAssembly.Module.imports(module).map(({ name }) => name);
        return Object.fromEntries(named.map((name) => [name, calls[name] ?? (() => NOT_SUPPORTED)]));
      },
      start(instance) {
        memory = instance.exports.memory;
        try {
          instance.exports._start();
        } catch (error) {
          if (!(error instanceof Exit) || error.status !== 0) throw error;
        }
      },
      async output() {
        return new Blob(output).text();
      },
    };
  }

  self.onmessage = async ({ data: { module, request } }) => {
    const faults = [];
    let last = 0;
    const onLine = (line) => {
      if (!line.startsWith('{')) return void faults.push(line);
      // More often than the page is drawn is in vain.
      if (performance.now() - last < 40) return;
      last = performance.now();
      self.postMessage({ progress: JSON.parse(line) });
    };
    try {
      const program = host(new TextEncoder().encode(JSON.stringify(request)), onLine);
      const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: program.imports(module) });
      program.start(instance);
      self.postMessage({ reply: JSON.parse(await program.output()) });
    } catch (error) {
      self.postMessage({ fault: faults.join('\n') || String(error) });
    }
  };
}
