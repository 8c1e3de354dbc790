import { useEffect, useState } from "react";

/** False until the page and what it waits for has loaded: then less urgent files may follow. */
export function useAfterLoad(): boolean {
  const [loaded, setLoaded] = useState(false);
  useEffect(() => {
    const ready = () => setLoaded(true);
    if (document.readyState === "complete") ready();
    else window.addEventListener("load", ready, { once: true });
    return () => window.removeEventListener("load", ready);
  }, []);
  return loaded;
}
