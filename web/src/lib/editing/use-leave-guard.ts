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
  const isConfirmed = useRef(false);

  // Blocks links and history moves through the router, and the closing of the tab through the browser.
  useEffect(() => {
    if (!active) return;
    isConfirmed.current = false;
    const askFirst = (proceed: Proceed) => {
      if (isConfirmed.current) proceed();
      else setBlocked({ proceed });
    };
    const restoreRouter = guardPushes(navigator, askFirst);

    const { pathname } = window.location;
    // The index of the history entry. The router stores it in the entry's state.
    const readIndex = () => (window.history.state as { idx?: number } | null)?.idx ?? 0;
    const formIndex = readIndex();
    // Whether the next popstate event comes from the call of history.go below, which goes back to the form.
    let isReturning = false;
    const onPop = (event: PopStateEvent) => {
      if (isReturning) {
        isReturning = false;
        event.stopImmediatePropagation();
        return;
      }
      if (isConfirmed.current || window.location.pathname === pathname) return;
      // The browser has already left the form's history entry, so this goes back to it. The router sees neither this event nor the
      // popstate event of going back.
      event.stopImmediatePropagation();
      const distance = readIndex() - formIndex;
      isReturning = true;
      window.history.go(-distance);
      askFirst(() => window.history.go(distance));
    };
    setLeaveGuard({ askFirst, onPop });

    const onUnload = (event: BeforeUnloadEvent) => event.preventDefault();
    // Typing after the confirmation means that leaving has failed, for example the sign-out.
    const onInput = () => {
      isConfirmed.current = false;
    };
    window.addEventListener("beforeunload", onUnload);
    document.addEventListener("input", onInput);
    return () => {
      setLeaveGuard(null);
      restoreRouter();
      window.removeEventListener("beforeunload", onUnload);
      document.removeEventListener("input", onInput);
    };
  }, [active, navigator]);

  return {
    asking: blocked !== null,
    stay: () => setBlocked(null),
    leave: () => {
      isConfirmed.current = true;
      setBlocked(null);
      blocked?.proceed();
    },
  };
}
