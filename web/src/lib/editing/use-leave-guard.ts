import { useContext, useEffect, useRef, useState } from "react";
import { UNSAFE_NavigationContext as NavigationContext, type Navigator } from "react-router";
import { setLeaveGuard } from "@/lib/leave-guard";

/** Performs the navigation or action that was blocked. */
type Go = () => void;

/** Has the router call `block` instead of each new navigation. Returns a function that restores the router. */
function blockPushes(navigator: Navigator, block: (go: Go) => void): () => void {
  const { push } = navigator;
  navigator.push = (...to) => block(() => push.apply(navigator, to));
  return () => {
    navigator.push = push;
  };
}

/** Whether the owner is being asked to confirm leaving, and a function for each answer. */
export type Leaving = { asking: boolean; stay(): void; leave(): void };

/**
 * While `active`, blocks navigation away from a form until the owner confirms it: links, Back and forward, and signing out.
 * Before the tab is closed, the browser asks by itself. Replacing a history entry, as the admin guard does, is not blocked.
 * The router's own blocker is not used, because its data router would add 20 kB for visitors.
 */
export function useLeaveGuard(active: boolean): Leaving {
  const { navigator } = useContext(NavigationContext);
  const [blocked, setBlocked] = useState<{ go: Go } | null>(null);
  // Whether the owner has confirmed leaving.
  const confirmed = useRef(false);

  // Blocks links and history moves through the router, and the closing of the tab through the browser.
  useEffect(() => {
    if (!active) return;
    confirmed.current = false;
    const block = (go: Go) => {
      if (confirmed.current) go();
      else setBlocked({ go });
    };
    const release = blockPushes(navigator, block);

    const { pathname } = window.location;
    // The index of the history entry. The router stores it in the entry's state.
    const readIndex = () => (window.history.state as { idx?: number } | null)?.idx ?? 0;
    const formIndex = readIndex();
    // Whether the next popstate event is the return to the form's entry. The router must not see that event either.
    let returning = false;
    const onPop = (event: PopStateEvent) => {
      if (returning) {
        returning = false;
        event.stopImmediatePropagation();
        return;
      }
      if (confirmed.current || window.location.pathname === pathname) return;
      // The browser has already moved: the router must not see the event, and the browser goes back.
      event.stopImmediatePropagation();
      const distance = readIndex() - formIndex;
      returning = true;
      window.history.go(-distance);
      block(() => window.history.go(distance));
    };
    setLeaveGuard({ block, onPop });

    const onUnload = (event: BeforeUnloadEvent) => event.preventDefault();
    // Typing after the confirmation means that leaving has failed, for example the sign-out.
    const onInput = () => {
      confirmed.current = false;
    };
    window.addEventListener("beforeunload", onUnload);
    document.addEventListener("input", onInput);
    return () => {
      setLeaveGuard(null);
      release();
      window.removeEventListener("beforeunload", onUnload);
      document.removeEventListener("input", onInput);
    };
  }, [active, navigator]);

  return {
    asking: blocked !== null,
    stay: () => setBlocked(null),
    leave: () => {
      confirmed.current = true;
      setBlocked(null);
      blocked?.go();
    },
  };
}
