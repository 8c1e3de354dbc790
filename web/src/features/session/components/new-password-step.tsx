import { useEffect, useState } from "react";
import { useQueryClient } from "@tanstack/react-query";
import { useForm } from "react-hook-form";
import { zodResolver } from "@hookform/resolvers/zod";
import { useNavigate } from "react-router";
import { PasswordField } from "@/components/form/password-field";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { FACTORS_KEY } from "@/features/session/api/factors";
import { updatePassword } from "@/features/session/api/update-password";
import { ReauthenticationProvider } from "@/features/session/components/account/reauthentication-provider";
import { failureText } from "@/features/session/failure-text";
import { useReauthentication } from "@/features/session/reauthentication";
import { newPasswordSchema, type NewPasswordValues } from "@/features/session/schema";
import { showWelcome } from "@/features/session/welcome";
import type { AuthFailure } from "@/lib/auth";
import { useBoot } from "@/lib/boot";
import { useT } from "@/lib/i18n";
import type { ReturnState } from "@/lib/return-path";
import type { TextKey } from "@/lib/texts";

/** `from` is the admin page to go to after the new password is saved. */
type NewPasswordProps = { email: string; from: string };

/**
 * The step in which a user chooses a new password. The user has opened a mailed link, for a password reset or an invitation, and the
 * link has already signed the user in. If that was too long ago, the server demands reauthentication. The user reauthenticates with a
 * mailed code (`codeOnly`), because the password is forgotten or there is none.
 */
export function NewPasswordStep(props: NewPasswordProps) {
  return (
    <ReauthenticationProvider codeOnly>
      <NewPasswordForm {...props} />
    </ReauthenticationProvider>
  );
}

function NewPasswordForm({ email, from: returnTo }: NewPasswordProps) {
  const t = useT();
  const boot = useBoot();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const { withReauthentication } = useReauthentication();
  // The error if the server refuses the password itself, because it is weak or unchanged. It is shown at the field.
  const [passwordFailure, setPasswordFailure] = useState<AuthFailure>();
  // Any other error of saving. It is shown above the form.
  const [failure, setFailure] = useState<AuthFailure>();
  const { register, handleSubmit, setFocus, formState } = useForm<NewPasswordValues>({
    resolver: zodResolver(newPasswordSchema),
    defaultValues: { password: "" },
  });
  const { errors, isSubmitting } = formState;

  useEffect(() => setFocus("password"), [setFocus]);

  const submit = handleSubmit(async ({ password }) => {
    setFailure(undefined);
    setPasswordFailure(undefined);
    const result = await withReauthentication(() => updatePassword(boot, password));
    if (!result) return; // the user has closed the dialog that asks for a code
    const { error } = result;
    if (!error) {
      showWelcome(t);
      const state: ReturnState = { from: returnTo };
      void navigate("/admin/auth", { replace: true, state });
      return;
    }
    if (error.code === "weak_password" || error.code === "same_password") setPasswordFailure(error);
    else setFailure(error);
    // The account got a second factor after the sign-in. That factor must be verified first. The page shows the step for it once the
    // factors have been fetched again.
    if (error.code === "insufficient_aal")
      void queryClient.invalidateQueries({ queryKey: [FACTORS_KEY] });
    setFocus("password");
  });

  const errorKey = errors.password?.message;
  return (
    <>
      <h1 className="text-h2">{t("auth.newPassword.title")}</h1>
      <p className="text-ink2 mt-2">{t("auth.newPassword.body", { email })}</p>
      <form noValidate onSubmit={(event) => void submit(event)} className="mt-8 grid gap-6">
        {failure && <Alert title={t("auth.newPassword.failed")}>{failureText(t, failure)}</Alert>}
        {/* Password managers find the account by this field. */}
        <input type="email" autoComplete="username" value={email} readOnly hidden />
        <PasswordField
          label={t("auth.setup.password")}
          autoComplete="new-password"
          required
          readOnly={isSubmitting}
          hint={t("auth.setup.passwordHint")}
          error={
            errorKey ? t(errorKey as TextKey) : passwordFailure && failureText(t, passwordFailure)
          }
          {...register("password")}
        />
        <Button type="submit" className="w-full" loading={isSubmitting}>
          {isSubmitting ? t("common.saving") : t("auth.setup.submit")}
        </Button>
      </form>
    </>
  );
}
