import { useLocation, useNavigate } from "react-router";

type Place = { zoom?: string };

/** Which picture is seen up close, by its address, kept in the history entry: Back returns to the dialog. */
export function useZoomInHistory() {
  const location = useLocation();
  const navigate = useNavigate();
  const state = location.state as Place | null;
  const here = { pathname: location.pathname, search: location.search, hash: location.hash };
  return {
    zoomed: state?.zoom ?? null,
    open: (url: string) => void navigate(here, { state: { ...state, zoom: url } }),
    close: () => void navigate(-1),
  };
}
