import { useCallback } from "react";
import { useSetMessageStatus } from "@/features/admin-messages/api/set-message-status";
import { errorToast } from "@/lib/error-toast";
import { messageOf } from "@/lib/errors";
import { useT } from "@/lib/i18n";
import type { ContactStatus } from "@/lib/types";

/**
 * Returns a function that sets the status of a message (new, read or replied). With `from`, it changes the status only if it is still
 * `from` in the database. If the request fails, a toast says so.
 */
export function useStatusChange() {
  const t = useT();
  const { mutateAsync: saveStatus } = useSetMessageStatus();
  return useCallback(
    (id: string, status: ContactStatus, from?: ContactStatus) =>
      void saveStatus({ id, status, from }).catch((error: unknown) =>
        errorToast(t, messageOf(error)),
      ),
    [saveStatus, t],
  );
}
