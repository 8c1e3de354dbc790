import { useCallback, useMemo, useState, type ReactNode } from "react";
import { ReauthenticationDialog } from "@/features/session/components/account/reauthentication-dialog";
import {
  ReauthenticationContextProvider,
  type Reauthentication,
} from "@/features/session/reauthentication";

/** The open dialog. `answer` closes it; if reauthentication has succeeded, the waiting call is repeated. */
type OpenDialog = { answer(succeeded: boolean): void };

/** Provides useReauthentication, and shows the dialog when a call needs reauthentication. */
export function ReauthenticationProvider({ children }: { children: ReactNode }) {
  const [dialog, setDialog] = useState<OpenDialog>();

  const withReauthentication = useCallback<Reauthentication["withReauthentication"]>(
    async (call) => {
      const result = await call();
      if (result.error?.code !== "reauthentication_needed") return result;
      const succeeded = await new Promise<boolean>((answer) => setDialog({ answer }));
      setDialog(undefined);
      return succeeded ? call() : null;
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
          onDone={() => dialog.answer(true)}
          onClose={() => dialog.answer(false)}
        />
      )}
    </ReauthenticationContextProvider>
  );
}
