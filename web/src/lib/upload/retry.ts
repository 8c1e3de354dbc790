import { UPLOAD_RETRY_DELAYS_MS } from "@/lib/upload/limits";

/** Whether a retry may succeed: there was no response (status 0), too many requests, or a gateway error. */
export function isTransient(status: number): boolean {
  return status === 0 || status === 429 || (status >= 502 && status <= 504);
}

/**
 * Waits before the next attempt, after `failures` attempts have failed: until the browser is online again if it is offline, else
 * for the delay in UPLOAD_RETRY_DELAYS_MS. Resolves with true if another attempt should follow, with false after the last one.
 * Rejects if `signal` is aborted.
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

/** Resolves when `listen` calls its callback; rejects if the signal is aborted before. */
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
