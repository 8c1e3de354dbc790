import { useCallback } from "react";
import { useLocation, useNavigate, useSearchParams } from "react-router";

/** The URL parameter with the id of the opened message. */
const MESSAGE_PARAM = "message";

/**
 * The id of the opened message, and functions to open and close a message. The id is in the URL, so that a reload keeps the
 * message open. `narrow` says whether the message covers the list, as on phones.
 */
export function useOpenedMessage(narrow: boolean) {
  const [params, setParams] = useSearchParams();
  const navigate = useNavigate();
  const location = useLocation();
  // Whether `open` has added the current history entry, as it does on phones. Closing then goes back to the entry before it.
  const hasOwnEntry = (location.state as { opened?: boolean } | null)?.opened === true;

  const open = useCallback(
    (id: string) =>
      setParams(
        (now) => {
          const next = new URLSearchParams(now);
          next.set(MESSAGE_PARAM, id);
          return next;
        },
        // On phones the message covers the list. It gets its own history entry, so that Back closes it.
        { replace: !narrow, state: { opened: narrow } },
      ),
    [setParams, narrow],
  );

  const close = useCallback(() => {
    if (hasOwnEntry) void navigate(-1);
    else
      setParams(
        (now) => {
          const next = new URLSearchParams(now);
          next.delete(MESSAGE_PARAM);
          return next;
        },
        { replace: true },
      );
  }, [hasOwnEntry, navigate, setParams]);

  return { openedId: params.get(MESSAGE_PARAM), open, close };
}
