import { UPLOAD_RETRY_DELAYS_MS } from "@/lib/upload/limits";

/** Whether the next attempt may go better: no answer at all, or one that says "not now". */
export function isPassing(status: number): boolean {
  return status === 0 || status === 429 || (status >= 502 && status <= 504);
}

/**
 * Waits before attempt number `lost` + 1: until the browser is online again, however long that takes, then a
 * little longer each time. False when enough attempts were lost while there was a line.
 */
export async function mayTryAgain(lost: number, signal?: AbortSignal): Promise<boolean> {
  if (!navigator.onLine) {
    await until(signal, (done) => {
      window.addEventListener("online", done);
      return () => window.removeEventListener("online", done);
    });
    return true;
  }
  const delay = UPLOAD_RETRY_DELAYS_MS[lost - 1];
  if (delay === undefined) return false;
  await until(signal, (done) => {
    const timer = setTimeout(done, delay);
    return () => clearTimeout(timer);
  });
  return true;
}

export const cancelled = () => new DOMException("The upload was cancelled", "AbortError");

function until(signal: AbortSignal | undefined, listen: (done: () => void) => () => void) {
  return new Promise<void>((resolve, reject) => {
    const stop = () => {
      unlisten();
      reject(cancelled());
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
