// Shows toasts. The code of the toast area (components/ui/toast-area.tsx) loads with the first toast. Until the toast area is mounted,
// toasts wait in a queue.

/** The content of a toast. */
export type ToastText = {
  title: string;
  description?: string;
  destructive?: boolean;
  /** A button in the toast. A toast with a button stays longer. */
  action?: { label: string; onClick(): void };
};
/** A toast and how it is shown. A "single" toast replaces the previous single toast. A "stacked" toast joins the stack. */
export type QueuedToast = ToastText & { channel: "single" | "stacked" };

/** Shows a toast in the mounted toast area. */
type ShowToast = (toast: QueuedToast) => void;

const queue: QueuedToast[] = [];
const listeners = new Set<() => void>();
/** The function of the mounted toast area; null while none is mounted. */
let showInArea: ShowToast | null = null;
/** Whether the toast area must load although no toast is queued (preloadToastArea). */
let isExpected = false;

/** Tells the listeners that the toast area is needed. */
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

/** Shows a toast that replaces the previous single toast. For sign-in, sign-out and the contact form. */
export function singleToast(toast: ToastText): void {
  deliver({ ...toast, channel: "single" });
}

/** Shows a toast in a stack. At most three toasts are visible. For all toasts that are not for singleToast. */
export function stackedToast(toast: ToastText): void {
  deliver({ ...toast, channel: "stacked" });
}

/**
 * Loads the toast area in advance, so that a toast can report a failure of the network. During such a failure the code of
 * the area could not be loaded.
 */
export function preloadToastArea(): void {
  isExpected = true;
  if (!showInArea) notify();
}

/** Calls `listener` when the toast area is needed. Returns a function that unsubscribes. */
export function onToastNeeded(listener: () => void): () => void {
  listeners.add(listener);
  if (isExpected || queue.length > 0) listener();
  return () => listeners.delete(listener);
}

/** Connects the mounted toast area. `show` gets the queued toasts and all later toasts. Returns a function that disconnects the area. */
export function attachToastArea(show: ShowToast): () => void {
  showInArea = show;
  for (const toast of queue.splice(0)) show(toast);
  return () => {
    if (showInArea === show) showInArea = null;
  };
}
