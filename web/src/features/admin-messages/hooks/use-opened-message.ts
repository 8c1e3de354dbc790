import { useCallback } from "react";
import { useLocation, useNavigate, useSearchParams } from "react-router";

const PARAM = "message";

/** The opened message, whose id is in the URL. A reload keeps it open, and on phones Back closes it. */
export function useOpenedMessage(narrow: boolean) {
  const [params, setParams] = useSearchParams();
  const navigate = useNavigate();
  const location = useLocation();
  const openedHere = (location.state as { opened?: boolean } | null)?.opened === true;

  const open = useCallback(
    (id: string) =>
      setParams(
        (now) => {
          const next = new URLSearchParams(now);
          next.set(PARAM, id);
          return next;
        },
        // On phones the message covers the list. It gets its own history entry, so that Back closes it.
        { replace: !narrow, state: { opened: narrow } },
      ),
    [setParams, narrow],
  );

  const close = useCallback(() => {
    if (openedHere) void navigate(-1);
    else
      setParams(
        (now) => {
          const next = new URLSearchParams(now);
          next.delete(PARAM);
          return next;
        },
        { replace: true },
      );
  }, [openedHere, navigate, setParams]);

  return { openedId: params.get(PARAM), open, close };
}
