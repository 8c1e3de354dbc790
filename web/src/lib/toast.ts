export type ToastText = { title: string; description?: string; destructive?: boolean };
export type QueuedToast = ToastText & { channel: "helper" | "area" };

type Area = (toast: QueuedToast) => void;

// Toasts wait here until the area, which is loaded with the first one, takes over.
const waiting: QueuedToast[] = [];
const wakers = new Set<() => void>();
let area: Area | null = null;
let expected = false;

function wakeAll() {
  for (const wake of wakers) wake();
}

function deliver(toast: QueuedToast) {
  if (area) {
    area(toast);
    return;
  }
  waiting.push(toast);
  wakeAll();
}

/** Sign-in, sign-out and contact: one at a time, a new one replaces the last. */
export function helperToast(toast: ToastText): void {
  deliver({ ...toast, channel: "helper" });
}

/** Everything else: they stack, three visible. */
export function areaToast(toast: ToastText): void {
  deliver({ ...toast, channel: "area" });
}

/** Has the area loaded ahead of time: what fails for want of a network must still be able to say so. */
export function expectToasts(): void {
  expected = true;
  if (!area) wakeAll();
}

/** Calls back when toasts wait or are expected and no area is there; returns the unsubscriber. */
export function onToastWanted(wake: () => void): () => void {
  wakers.add(wake);
  if (expected || waiting.length > 0) wake();
  return () => wakers.delete(wake);
}

/** The mounted area announces itself and receives what has waited. */
export function attachToastArea(show: Area): () => void {
  area = show;
  for (const toast of waiting.splice(0)) show(toast);
  return () => {
    if (area === show) area = null;
  };
}
