// Browser globals that the server's JavaScript engine (QuickJS) lacks. The libraries need them only while they load.
// The console is also used later: each error or warning that is logged while a page is rendered makes its rendering fail.

/** The errors and warnings logged while a page is rendered; entry-server.tsx empties the array before each page. */
export const reported: string[] = [];
const report = (...values: unknown[]) => void reported.push(values.map(String).join(" "));
const ignore = () => undefined;

/** Query strings are always empty, because the server renders a page by its path only. */
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

/** React encodes constants for streaming, which is not used. */
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
