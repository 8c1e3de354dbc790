// What the libraries ask of every host while they load, and QuickJS does not have. Nothing of it does any work while a
// page is drawn, but for the console: its errors make the drawing fail (entry-server.tsx).

/** What was reported while a page was drawn. */
export const reported: string[] = [];
const report = (...values: unknown[]) => void reported.push(values.map(String).join(" "));
const ignore = () => undefined;

/** Addresses are drawn without their query: what depends on it follows in the browser. */
class NoSearchParams {
  get(): null {
    return null;
  }
}

/** The router makes one while it loads, and asks nothing of it. */
class NoAddress {
  href = "";
}

class NoMessageChannel {
  port1 = { onmessage: null };
  port2 = { postMessage: ignore };
}

/** React prepares the constants of its streams, which are not used. */
class NoEncoder {
  encode(): Uint8Array {
    return new Uint8Array();
  }
}

// Every engine gets the same, also one that would have its own: the bytes must not depend on the host.
Object.assign(globalThis, {
  console: { error: report, warn: report, log: ignore, info: ignore, debug: ignore },
  MessageChannel: NoMessageChannel,
  TextEncoder: NoEncoder,
  URL: NoAddress,
  URLSearchParams: NoSearchParams,
  queueMicrotask: (act: () => void) => void Promise.resolve().then(act),
  setTimeout: ignore,
  clearTimeout: ignore,
});
