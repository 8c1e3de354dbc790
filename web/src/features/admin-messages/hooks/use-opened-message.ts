import { useCallback } from "react";
import { useLocation, useNavigate, useSearchParams } from "react-router";

const PARAM = "message";

/** The open message is part of the address: Back closes it on a phone, and a reload keeps it open. */
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
        // Beside the list a change is no step; over the list (phones) it is one that Back undoes.
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
