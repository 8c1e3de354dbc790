import { useContext, useEffect, useRef, useState } from "react";
import { UNSAFE_NavigationContext as NavigationContext, type Navigator } from "react-router";
import { type Proceed, setLeaveGuard } from "@/lib/leave-guard";

/**
 * Makes the router call `askFirst` instead of navigating to a new page. `askFirst` gets a function that does the navigation. Returns a
 * function that restores the router.
 */
function guardPushes(navigator: Navigator, askFirst: (proceed: Proceed) => void): () => void {
  const { push } = navigator;
  navigator.push = (...to) => askFirst(() => push.apply(navigator, to));
  return () => {
    navigator.push = push;
  };
}

/** Whether the owner is being asked to confirm leaving, and a function for each answer. */
export type Leaving = { asking: boolean; stay(): void; leave(): void };

/**
 * While `active`, blocks navigation away from a form with unsaved changes until the owner confirms it: links, Back and forward, and
 * signing out. When the tab is closed, the browser shows its own question. A navigation that replaces the history entry is not
 * blocked, for example to the sign-in page after the session has ended.
 * The router's own blocker is not used. It needs the router's data API, which would add 20 kB for visitors.
 */
export function useLeaveGuard(active: boolean): Leaving {
  const { navigator } = useContext(NavigationContext);
  const [blocked, setBlocked] = useState<{ proceed: Proceed } | null>(null);
  // Whether the owner has confirmed leaving.
  const confirmed = useRef(false);

  // Blocks links and history moves through the router, and the closing of the tab through the browser.
  useEffect(() => {
    if (!active) return;
    confirmed.current = false;
    const askFirst = (proceed: Proceed) => {
      if (confirmed.current) proceed();
      else setBlocked({ proceed });
    };
    const release = guardPushes(navigator, askFirst);

    const { pathname } = window.location;
    // The index of the history entry. The router stores it in the entry's state.
    const readIndex = () => (window.history.state as { idx?: number } | null)?.idx ?? 0;
    const formIndex = readIndex();
    // Whether the next popstate event comes from the call of history.go below, which returns to the form.
    let returning = false;
    const onPop = (event: PopStateEvent) => {
      if (returning) {
        returning = false;
        event.stopImmediatePropagation();
        return;
      }
      if (confirmed.current || window.location.pathname === pathname) return;
      // The browser has already moved. Goes back to the form. The router sees neither this event nor the event of the return.
      event.stopImmediatePropagation();
      const distance = readIndex() - formIndex;
      returning = true;
      window.history.go(-distance);
      askFirst(() => window.history.go(distance));
    };
    setLeaveGuard({ askFirst, onPop });

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
      blocked?.proceed();
    },
  };
}
