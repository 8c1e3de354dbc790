import { useEffect, useState } from "react";

/** Whether the page's load event has fired. Less urgent files load only afterwards. */
export function usePageLoaded(): boolean {
  const [loaded, setLoaded] = useState(false);
  useEffect(() => {
    const ready = () => setLoaded(true);
    if (document.readyState === "complete") ready();
    else window.addEventListener("load", ready, { once: true });
    return () => window.removeEventListener("load", ready);
  }, []);
  return loaded;
}
