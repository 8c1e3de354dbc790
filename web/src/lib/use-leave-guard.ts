import { useContext, useEffect, useRef, useState } from "react";
import { UNSAFE_NavigationContext as NavigationContext, type Navigator } from "react-router";
import { setLeaveGuard } from "@/lib/leaving";

type Go = () => void;

function holdPushes(navigator: Navigator, hold: (go: Go) => void): () => void {
  const { push } = navigator;
  navigator.push = (...to) => hold(() => push.apply(navigator, to));
  return () => {
    navigator.push = push;
  };
}

export type Leaving = { asking: boolean; stay(): void; leave(): void };

/**
 * While `active`, holds every way out of the page until the owner has agreed: links, buttons that navigate, back and
 * forward, signing out, and (in the browser's own words) closing the tab. The router's own blocker needs its data
 * router, 20 kB that visitors would load; replacing a page, as guards do, is never held.
 */
export function useLeaveGuard(active: boolean): Leaving {
  const { navigator } = useContext(NavigationContext);
  const [waiting, setWaiting] = useState<{ go: Go } | null>(null);
  const agreed = useRef(false);

  useEffect(() => {
    if (!active) return;
    agreed.current = false;
    const hold = (go: Go) => {
      if (agreed.current) go();
      else setWaiting({ go });
    };
    const release = holdPushes(navigator, hold);

    const { pathname } = window.location;
    // The router counts its entries here.
    const index = () => (window.history.state as { idx?: number } | null)?.idx ?? 0;
    const here = index();
    let returning = false;
    const onPop = (event: PopStateEvent) => {
      if (returning) {
        returning = false;
        event.stopImmediatePropagation();
        return;
      }
      if (agreed.current || window.location.pathname === pathname) return;
      // The browser has moved already: the router must not hear of it, and the address comes back.
      event.stopImmediatePropagation();
      const way = index() - here;
      returning = true;
      window.history.go(-way);
      hold(() => window.history.go(way));
    };
    setLeaveGuard({ hold, onPop });

    const onUnload = (event: BeforeUnloadEvent) => event.preventDefault();
    // Who goes on typing has not left after all: a sign-out that failed.
    const onInput = () => {
      agreed.current = false;
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
    asking: waiting !== null,
    stay: () => setWaiting(null),
    leave: () => {
      agreed.current = true;
      setWaiting(null);
      waiting?.go();
    },
  };
}
