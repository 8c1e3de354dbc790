// The code of the toast area (components/ui/toast-area.tsx) loads with the first toast. Until the area is mounted, toasts wait
// in this queue.

export type ToastText = {
  title: string;
  description?: string;
  destructive?: boolean;
  /** A button in the toast, which then stays longer. */
  action?: { label: string; onClick(): void };
};
/** `channel` says how the toast is shown: "helper" replaces the previous helper toast, "area" joins the stack. */
export type QueuedToast = ToastText & { channel: "helper" | "area" };

/** Shows a toast in the mounted toast area. */
type ShowToast = (toast: QueuedToast) => void;

const queue: QueuedToast[] = [];
const listeners = new Set<() => void>();
/** The function of the mounted toast area; null while none is mounted. */
let showInArea: ShowToast | null = null;
/** Set by preloadToastArea: the toast area must load although no toast is queued. */
let expected = false;

function notify() {
  for (const listener of listeners) listener();
}

/** Passes a toast to the mounted toast area, or queues it. */
function deliver(toast: QueuedToast) {
  if (showInArea) {
    showInArea(toast);
    return;
  }
  queue.push(toast);
  notify();
}

/** Shows a toast that replaces the previous one of this kind; for sign-in, sign-out and the contact form. */
export function helperToast(toast: ToastText): void {
  deliver({ ...toast, channel: "helper" });
}

/** Shows a toast in a stack of which three are visible; for everything else. */
export function areaToast(toast: ToastText): void {
  deliver({ ...toast, channel: "area" });
}

/**
 * Loads the toast area in advance, so that a failure of the network can be reported although code can no longer load then.
 */
export function preloadToastArea(): void {
  expected = true;
  if (!showInArea) notify();
}

/** Calls `listener` when the toast area is needed. Returns a function that unsubscribes. */
export function onToastNeeded(listener: () => void): () => void {
  listeners.add(listener);
  if (expected || queue.length > 0) listener();
  return () => listeners.delete(listener);
}

/**
 * Connects the mounted toast area: `show` gets the queued toasts and all later ones. Returns a function that
 * disconnects it.
 */
export function attachToastArea(show: ShowToast): () => void {
  showInArea = show;
  for (const toast of queue.splice(0)) show(toast);
  return () => {
    if (showInArea === show) showInArea = null;
  };
}
