import { useCallback, useMemo, useState, type ReactNode } from "react";
import { ReauthenticationDialog } from "@/features/session/components/account/reauthentication-dialog";
import {
  ReauthenticationContextProvider,
  type Reauthentication,
} from "@/features/session/reauthentication";

/** The open dialog. `answer` closes the dialog. If the reauthentication has succeeded, the waiting request is then repeated. */
type OpenDialog = { answer(succeeded: boolean): void };

/**
 * Provides useReauthentication for the account page, and for the step of the sign-in page that asks for a new password. Shows the
 * dialog when the server demands reauthentication (the password again, or a mailed code) for a request. With `codeOnly` the dialog
 * does not ask for the password.
 */
export function ReauthenticationProvider({
  codeOnly = false,
  children,
}: {
  codeOnly?: boolean;
  children: ReactNode;
}) {
  const [dialog, setDialog] = useState<OpenDialog>();

  const withReauthentication = useCallback<Reauthentication["withReauthentication"]>(
    async (request) => {
      const result = await request();
      if (result.error?.code !== "reauthentication_needed") return result;
      const succeeded = await new Promise<boolean>((answer) => setDialog({ answer }));
      setDialog(undefined);
      return succeeded ? request() : null;
    },
    [],
  );
  const value = useMemo(
    () => ({ withReauthentication, isDialogOpen: dialog !== undefined }),
    [withReauthentication, dialog],
  );

  return (
    <ReauthenticationContextProvider value={value}>
      {children}
      {dialog && (
        <ReauthenticationDialog
          codeOnly={codeOnly}
          onDone={() => dialog.answer(true)}
          onClose={() => dialog.answer(false)}
        />
      )}
    </ReauthenticationContextProvider>
  );
}
