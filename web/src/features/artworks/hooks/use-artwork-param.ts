import { useLocation, useNavigate } from "react-router";
import type { Product } from "@/lib/types";

/** The query parameter with the id of the open work. */
const PARAM = "art";
/** The state of a history entry that this page has added to open a work. */
type HistoryState = { opened?: boolean };

/** The id of the open work (?art= of the URL; null if none is open), and functions to open and close a work. */
export function useArtworkParam() {
  const location = useLocation();
  const navigate = useNavigate();

  function withArt(art: string | null) {
    const params = new URLSearchParams(location.search);
    if (art === null) params.delete(PARAM);
    else params.set(PARAM, art);
    return { pathname: location.pathname, search: params.toString(), hash: location.hash };
  }
  // Whether this page has added the current entry.
  const opened = (location.state as HistoryState | null)?.opened;
  return {
    id: new URLSearchParams(location.search).get(PARAM),
    open(chosen: Product) {
      // A second click, while the code of the dialog loads, adds no second entry: one step back must close the dialog.
      void navigate(withArt(chosen.id), {
        replace: opened,
        state: { opened: true } satisfies HistoryState,
      });
    },
    close() {
      // A work opened on this page is closed by going back. A work opened by a link has no earlier entry to go back to.
      if (opened) void navigate(-1);
      else void navigate(withArt(null), { replace: true });
    },
  };
}
