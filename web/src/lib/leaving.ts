type Go = () => void;

/** What holds the ways out of a page; use-leave-guard.ts makes one. */
export type LeaveGuard = { hold(go: Go): void; onPop(event: PopStateEvent): void };

// One form with unsaved changes at a time: the page's.
let guard: LeaveGuard | null = null;

export function setLeaveGuard(next: LeaveGuard | null): void {
  guard = next;
}

/** For ways out that are no navigation, such as signing out: `go` runs at once, or when the owner agrees. */
export function askToLeave(go: Go): void {
  if (guard) guard.hold(go);
  else go();
}

/**
 * Called once before the router starts: browsers tell listeners on the window in the order of their coming, also those
 * that ask to be told first, and the router must not hear of a step back that is held.
 */
export function watchHistory(): void {
  window.addEventListener("popstate", (event) => guard?.onPop(event), { capture: true });
}
