// Replaces browser globals that the server's JavaScript engine (QuickJS) lacks. The libraries need these globals only while they load.
// The console is also used later: an error or warning that is logged while a page is rendered makes the rendering fail.

/** The errors and warnings that were logged while a page is rendered. entry-server.tsx empties the array before each page. */
export const reported: string[] = [];
const report = (...values: unknown[]) => void reported.push(values.map(String).join(" "));
const ignore = () => undefined;

/** A query string without parameters, because the server renders a page only by its path. */
class NoSearchParams {
  get(): null {
    return null;
  }
}

/** The router creates a URL while it loads, but does not use it. */
class NoUrl {
  href = "";
}

/** React creates a channel while it loads, but does not use it to render a page. */
class NoMessageChannel {
  port1 = { onmessage: null };
  port2 = { postMessage: ignore };
}

/** React encodes constants for streaming while it loads. The server does not stream. */
class NoEncoder {
  encode(): Uint8Array {
    return new Uint8Array();
  }
}

// Also replaces globals that the engine has, so that the HTML does not depend on them.
Object.assign(globalThis, {
  console: { error: report, warn: report, log: ignore, info: ignore, debug: ignore },
  MessageChannel: NoMessageChannel,
  TextEncoder: NoEncoder,
  URL: NoUrl,
  URLSearchParams: NoSearchParams,
  queueMicrotask: (task: () => void) => void Promise.resolve().then(task),
  setTimeout: ignore,
  clearTimeout: ignore,
});
