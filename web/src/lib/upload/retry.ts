import { UPLOAD_RETRY_DELAYS_MS } from "@/lib/upload/limits";

// Decides whether and when a failed upload is tried again.

/** Whether a retry may succeed: there was no response (status 0), or too many requests (429), or a gateway error (502 to 504). */
export function isTransient(status: number): boolean {
  return status === 0 || status === 429 || (status >= 502 && status <= 504);
}

/**
 * Waits before the next attempt, after `failures` attempts have failed. If the browser is offline, it waits until the browser is online
 * again. If not, it waits for the delay in UPLOAD_RETRY_DELAYS_MS. Resolves with true if another attempt should follow, or with false
 * after the last attempt. Rejects if `signal` is aborted.
 */
export async function waitForRetry(failures: number, signal?: AbortSignal): Promise<boolean> {
  if (!navigator.onLine) {
    await waitUntil(signal, (done) => {
      window.addEventListener("online", done);
      return () => window.removeEventListener("online", done);
    });
    return true;
  }
  const delay = UPLOAD_RETRY_DELAYS_MS[failures - 1];
  if (delay === undefined) return false;
  await waitUntil(signal, (done) => {
    const timer = setTimeout(done, delay);
    return () => clearTimeout(timer);
  });
  return true;
}

/** The error of an aborted upload. */
export const abortError = () => new DOMException("The upload was cancelled", "AbortError");

/** Resolves when `listen` calls its callback `done`. Rejects if the signal is aborted first. `listen` returns its cleanup. */
function waitUntil(signal: AbortSignal | undefined, listen: (done: () => void) => () => void) {
  return new Promise<void>((resolve, reject) => {
    const stop = () => {
      unlisten();
      reject(abortError());
    };
    const unlisten = listen(() => {
      signal?.removeEventListener("abort", stop);
      unlisten();
      resolve();
    });
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}
