import { useCallback, useMemo, useState, type ReactNode } from "react";
import { ConfirmIdentityDialog } from "@/features/session/components/account/confirm-identity-dialog";
import { ConfirmationContextProvider, type Confirmation } from "@/features/session/confirmation";

/** An open dialog; `answer` resolves the call that waits for it. */
type Question = { answer(confirmed: boolean): void };

/** Provides useConfirmation, which makes calls and asks for reauthentication if the server demands it. */
export function ConfirmationProvider({ children }: { children: ReactNode }) {
  const [question, setQuestion] = useState<Question>();

  const confirmed = useCallback<Confirmation["confirmed"]>(async (call) => {
    const first = await call();
    if (first.error?.code !== "reauthentication_needed") return first;
    const isConfirmed = await new Promise<boolean>((answer) => setQuestion({ answer }));
    setQuestion(undefined);
    return isConfirmed ? call() : null;
  }, []);
  const value = useMemo(
    () => ({ confirmed, asking: question !== undefined }),
    [confirmed, question],
  );

  return (
    <ConfirmationContextProvider value={value}>
      {children}
      {question && (
        <ConfirmIdentityDialog
          onConfirmed={() => question.answer(true)}
          onClose={() => question.answer(false)}
        />
      )}
    </ConfirmationContextProvider>
  );
}
