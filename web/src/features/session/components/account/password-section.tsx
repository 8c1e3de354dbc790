import { useState } from "react";
import { zodResolver } from "@hookform/resolvers/zod";
import { useQueryClient } from "@tanstack/react-query";
import { useForm } from "react-hook-form";
import { PasswordField } from "@/components/form/password-field";
import { AdminGroup } from "@/components/layout/admin-group";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { SESSIONS_KEY } from "@/features/session/api/sessions";
import { updatePassword } from "@/features/session/api/update-password";
import { useReauthentication } from "@/features/session/reauthentication";
import { failureText } from "@/features/session/failure-text";
import { newPasswordSchema, type NewPasswordValues } from "@/features/session/schema";
import { useAuth, type AuthFailure } from "@/lib/auth";
import { useBoot } from "@/lib/boot";
import { useT } from "@/lib/i18n";
import type { TextKey } from "@/lib/texts";
import { stackedToast } from "@/lib/toast";

/** The form that changes the password. The change ends all other sessions. */
export function PasswordSection() {
  const t = useT();
  const boot = useBoot();
  const queryClient = useQueryClient();
  const { user } = useAuth();
  const { withReauthentication } = useReauthentication();
  // Why the server refuses the password, shown at the field. Other failures are shown above the form.
  const [passwordFailure, setPasswordFailure] = useState<AuthFailure>();
  const [failure, setFailure] = useState<AuthFailure>();
  const { register, handleSubmit, reset, setFocus, formState } = useForm<NewPasswordValues>({
    resolver: zodResolver(newPasswordSchema),
    defaultValues: { password: "" },
  });
  const { errors, isSubmitting } = formState;

  const submit = handleSubmit(async ({ password }) => {
    setFailure(undefined);
    setPasswordFailure(undefined);
    const result = await withReauthentication(() => updatePassword(boot, password));
    if (!result) return; // the owner has closed the dialog that asks for the password
    const { error } = result;
    if (!error) {
      reset();
      stackedToast({ title: t("account.password.saved") });
      void queryClient.invalidateQueries({ queryKey: SESSIONS_KEY });
      return;
    }
    if (error.code === "weak_password" || error.code === "same_password") setPasswordFailure(error);
    else setFailure(error);
    setFocus("password");
  });

  const errorKey = errors.password?.message;
  return (
    <AdminGroup title={t("account.password.title")} intro={t("account.password.intro")}>
      <form
        noValidate
        onSubmit={(event) => void submit(event)}
        className="grid max-w-[28em] justify-items-start gap-6"
      >
        {failure && (
          <Alert title={t("auth.newPassword.failed")} className="w-full">
            {failureText(t, failure)}
          </Alert>
        )}
        {/* Password managers find the account by this field. */}
        <input type="email" autoComplete="username" value={user?.email ?? ""} readOnly hidden />
        <PasswordField
          label={t("auth.setup.password")}
          autoComplete="new-password"
          readOnly={isSubmitting}
          hint={t("auth.setup.passwordHint")}
          className="w-full"
          error={
            errorKey ? t(errorKey as TextKey) : passwordFailure && failureText(t, passwordFailure)
          }
          {...register("password")}
        />
        <Button type="submit" size="sm" loading={isSubmitting}>
          {isSubmitting ? t("common.saving") : t("account.password.submit")}
        </Button>
      </form>
    </AdminGroup>
  );
}
