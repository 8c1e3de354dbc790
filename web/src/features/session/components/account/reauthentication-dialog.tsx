import { useEffect, useState } from "react";
import { zodResolver } from "@hookform/resolvers/zod";
import { useForm } from "react-hook-form";
import { PasswordField } from "@/components/form/password-field";
import { TextField } from "@/components/form/text-field";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { DialogClose, DialogContent, DialogRoot, DialogTitle } from "@/components/ui/dialog";
import { reauthenticate, sendReauthenticationCode } from "@/features/session/api/reauthenticate";
import { failureText } from "@/features/session/failure-text";
import {
  mailedCodeSchema,
  currentPasswordSchema,
  type ReauthenticationValues,
} from "@/features/session/schema";
import { useAuth, type AuthFailure } from "@/lib/auth";
import { useBoot } from "@/lib/boot";
import { useT } from "@/lib/i18n";
import type { TextKey } from "@/lib/texts";

type ReauthenticationDialogProps = {
  /** Whether only a mailed code is accepted, because the user does not know the password. */
  codeOnly?: boolean;
  /** Called when the user is reauthenticated. */
  onDone(): void;
  /** Called when the user closes the dialog without reauthentication. */
  onClose(): void;
};

/**
 * The dialog that reauthenticates the user (asks for a proof of identity although the user is signed in). The proof is the
 * password, or a code that is mailed on request.
 */
export function ReauthenticationDialog({
  codeOnly = false,
  onDone,
  onClose,
}: ReauthenticationDialogProps) {
  const t = useT();
  const boot = useBoot();
  const { user } = useAuth();
  // Whether the form takes the mailed code instead of the password.
  const [takesCode, setTakesCode] = useState(false);
  // Whether the form has no field yet, only the button that sends the code.
  const hasNoField = codeOnly && !takesCode;
  const [sending, setSending] = useState(false);
  const [failure, setFailure] = useState<AuthFailure>();
  const { register, handleSubmit, setFocus, formState } = useForm<ReauthenticationValues>({
    resolver: zodResolver(takesCode ? mailedCodeSchema : currentPasswordSchema),
    defaultValues: { password: "", code: "" },
  });
  const { errors, isSubmitting } = formState;
  const busy = isSubmitting || sending;

  // Focuses the field that has appeared.
  useEffect(() => setFocus(takesCode ? "code" : "password"), [takesCode, setFocus]);

  const submit = handleSubmit(async ({ password, code }) => {
    setFailure(undefined);
    const { error } = await reauthenticate(
      boot,
      takesCode ? { nonce: code } : { current_password: password },
    );
    if (!error) {
      onDone();
      return;
    }
    setFailure(error);
    setFocus(takesCode ? "code" : "password", { shouldSelect: true });
  });

  async function sendCode() {
    setFailure(undefined);
    setSending(true);
    const { error } = await sendReauthenticationCode(boot);
    setSending(false);
    if (error) setFailure(error);
    else setTakesCode(true);
  }

  return (
    <DialogRoot
      open
      onOpenChange={(open) => {
        if (!open && !busy) onClose();
      }}
    >
      <DialogContent className="max-w-[480px] p-6 outline-none sm:p-8">
        <DialogTitle className="pr-12 text-[1.75rem] leading-tight font-[350]">
          {t("account.confirm.title")}
        </DialogTitle>
        <p className="text-ink2 mt-3">{t("account.confirm.intro")}</p>
        <form noValidate onSubmit={(event) => void submit(event)} className="mt-5 grid gap-5">
          {failure && <Alert title={t("account.confirm.failed")}>{failureText(t, failure)}</Alert>}
          {/* Password managers find the account by this field. */}
          <input type="email" autoComplete="username" value={user?.email ?? ""} readOnly hidden />
          {takesCode && (
            <TextField
              label={t("account.confirm.code")}
              hint={t("account.confirm.codeSent", { email: user?.email ?? "" })}
              inputMode="numeric"
              autoComplete="one-time-code"
              spellCheck={false}
              required
              readOnly={isSubmitting}
              error={errors.code?.message && t(errors.code.message as TextKey)}
              {...register("code")}
            />
          )}
          {!takesCode && !codeOnly && (
            <PasswordField
              label={t("account.confirm.password")}
              autoComplete="current-password"
              required
              readOnly={isSubmitting}
              error={errors.password?.message && t(errors.password.message as TextKey)}
              {...register("password")}
            />
          )}
          <div className="flex flex-wrap items-center justify-between gap-2">
            {hasNoField ? (
              <Button size="sm" loading={sending} onClick={() => void sendCode()}>
                {t("account.confirm.sendFirst")}
              </Button>
            ) : (
              <>
                <Button
                  variant="ghost"
                  size="sm"
                  className="-ml-3 px-3"
                  loading={sending}
                  disabled={isSubmitting}
                  onClick={() => void sendCode()}
                >
                  {takesCode ? t("account.confirm.sendAgain") : t("account.confirm.send")}
                </Button>
                <Button
                  type="submit"
                  size="sm"
                  // At the right, also on a line of its own.
                  className="ml-auto"
                  loading={isSubmitting}
                  disabled={sending}
                >
                  {isSubmitting ? t("common.loading") : t("auth.factor.submit")}
                </Button>
              </>
            )}
          </div>
        </form>
        <DialogClose />
      </DialogContent>
    </DialogRoot>
  );
}
