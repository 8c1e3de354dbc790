/**
 * How many pages of works are requested at the same time. The server runs one query of a visitor at a time, lets eight wait, and refuses
 * further ones with status 429. Over HTTP/2 a browser would send all requests of a long scroll at once.
 */
const MAX_CONCURRENT_PAGES = 4;

/** How long an aborted load keeps its place: the server runs its query until it notices that the connection was closed. */
export const ABORTED_LOAD_MS = 400;

/** How many places are taken. */
let running = 0;
/** Functions that start the waiting loads, the newest last. */
const waiting: (() => void)[] = [];

/**
 * Calls `load`, at most MAX_CONCURRENT_PAGES at a time. The newest waiting load is next, because its works are on the screen. A load whose
 * signal is aborted while it waits is never started, and rejects with the signal's reason.
 */
export async function limitPageLoads<T>(load: () => Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  if (running >= MAX_CONCURRENT_PAGES) {
    await new Promise<void>((resolve, reject) => {
      const start = () => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      const leave = () => {
        waiting.splice(waiting.indexOf(start), 1);
        reject(signal.reason as Error);
      };
      waiting.push(start);
      signal.addEventListener("abort", leave, { once: true });
    });
  } else {
    running++;
  }
  // A load that has waited takes over the place of the load that started it.
  try {
    return await load();
  } finally {
    if (signal.aborted) setTimeout(release, ABORTED_LOAD_MS);
    else release();
  }
}

/** Gives a place to the newest waiting load. */
function release() {
  const next = waiting.pop();
  if (next) next();
  else running--;
}
