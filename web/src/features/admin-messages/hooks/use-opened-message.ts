import { useCallback } from "react";
import { useLocation, useNavigate, useSearchParams } from "react-router";

/** The URL parameter with the id of the opened message. */
const MESSAGE_PARAM = "message";

/**
 * Returns the id of the opened message, and functions that open and close a message. The id is in the URL, so that a reload keeps
 * the message open. `inDialog` says whether the message opens in a dialog, as on phones, and not beside the list.
 */
export function useOpenedMessage(inDialog: boolean) {
  const [params, setParams] = useSearchParams();
  const navigate = useNavigate();
  const location = useLocation();
  // Whether `open` has added the current entry of the browser's history, as it does for a dialog. `close` then goes back.
  const hasOwnEntry = (location.state as { opened?: boolean } | null)?.opened === true;

  const open = useCallback(
    (id: string) =>
      setParams(
        (current) => {
          const next = new URLSearchParams(current);
          next.set(MESSAGE_PARAM, id);
          return next;
        },
        // A dialog gets an entry of its own, so that Back closes it.
        { replace: !inDialog, state: { opened: inDialog } },
      ),
    [setParams, inDialog],
  );

  const close = useCallback(() => {
    if (hasOwnEntry) void navigate(-1);
    else
      setParams(
        (current) => {
          const next = new URLSearchParams(current);
          next.delete(MESSAGE_PARAM);
          return next;
        },
        { replace: true },
      );
  }, [hasOwnEntry, navigate, setParams]);

  return { openedId: params.get(MESSAGE_PARAM), open, close };
}
