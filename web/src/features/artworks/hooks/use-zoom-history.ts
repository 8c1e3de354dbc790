import { useLocation, useNavigate } from "react-router";

/** The state of a history entry. `zoom` is the URL of the picture that is zoomed. */
type HistoryState = { zoom?: string };

/**
 * Opens and closes the zoom of a picture in the artwork dialog. The zoom has a history entry of its own, so that Back returns
 * to the dialog. `zoomed` is the URL of the zoomed picture; null if none is.
 */
export function useZoomHistory() {
  const location = useLocation();
  const navigate = useNavigate();
  const state = location.state as HistoryState | null;
  const currentUrl = { pathname: location.pathname, search: location.search, hash: location.hash };
  const zoomed = state?.zoom ?? null;
  return {
    zoomed,
    // A second click, while the code of the zoom loads, adds no second entry: one step back must close the zoom.
    open: (url: string) =>
      void navigate(currentUrl, { replace: zoomed !== null, state: { ...state, zoom: url } }),
    close: () => void navigate(-1),
  };
}
