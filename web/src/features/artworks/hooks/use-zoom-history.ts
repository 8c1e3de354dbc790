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
  return {
    zoomed: state?.zoom ?? null,
    open: (url: string) => void navigate(currentUrl, { state: { ...state, zoom: url } }),
    close: () => void navigate(-1),
  };
}
