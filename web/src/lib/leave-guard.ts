// The leave guard blocks navigation away from a form with unsaved changes until the owner confirms it. This file holds the guard of
// the current form. useLeaveGuard makes the guard.

/** Performs the navigation or action that was blocked. */
export type Proceed = () => void;

/** A leave guard. `askFirst` asks the owner, and calls `proceed` after the confirmation. `onPop` handles Back and forward. */
export type LeaveGuard = { askFirst(proceed: Proceed): void; onPop(event: PopStateEvent): void };

// The guard of the current form; null if none has one. A page has at most one form with a guard.
let guard: LeaveGuard | null = null;

/** Sets the guard of the current form, or removes the guard if `next` is null. */
export function setLeaveGuard(next: LeaveGuard | null): void {
  guard = next;
}

/**
 * Runs an action that leaves the form without navigation, such as signing out. If there is a guard, the action runs only after
 * the owner confirms.
 */
export function confirmLeave(proceed: Proceed): void {
  if (guard) guard.askFirst(proceed);
  else proceed();
}

/**
 * Passes popstate events (Back and forward) to the guard. Must be called before the router starts, because listeners of the
 * window run in the order of registration, and a blocked event must not reach the router.
 */
export function watchHistory(): void {
  window.addEventListener("popstate", (event) => guard?.onPop(event), { capture: true });
}
