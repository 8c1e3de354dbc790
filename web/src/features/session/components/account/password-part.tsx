import { useEffect, useState } from "react";
import { zodResolver } from "@hookform/resolvers/zod";
import { useQueryClient } from "@tanstack/react-query";
import { useForm } from "react-hook-form";
import { PasswordField } from "@/components/form/password-field";
import { TextField } from "@/components/form/text-field";
import { AdminGroup } from "@/components/layout/admin-group";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { sendReauthentication } from "@/features/session/api/reauthenticate";
import { SESSIONS } from "@/features/session/api/sessions";
import { updatePassword } from "@/features/session/api/update-password";
import { failureText } from "@/features/session/failure-text";
import { changePasswordSchema, type ChangePassword } from "@/features/session/schema";
import { useAuth, type AuthFailure } from "@/lib/auth";
import { useBoot } from "@/lib/boot";
import { useT } from "@/lib/i18n";
import type { Key } from "@/lib/texts";
import { areaToast } from "@/lib/toast";

/** A new password; where the site asks an old session for a mailed code, it is sent and asked for here. */
export function PasswordPart() {
  const t = useT();
  const boot = useBoot();
  const cache = useQueryClient();
  const { user } = useAuth();
  const [codeSent, setCodeSent] = useState(false);
  const [weak, setWeak] = useState<AuthFailure>();
  const [failure, setFailure] = useState<AuthFailure>();
  const { register, handleSubmit, reset, setFocus, formState } = useForm<ChangePassword>({
    resolver: zodResolver(changePasswordSchema),
    defaultValues: { password: "", code: "" },
  });
  const { errors, isSubmitting } = formState;

  useEffect(() => {
    if (codeSent) setFocus("code");
  }, [codeSent, setFocus]);

  const submit = handleSubmit(async ({ password, code }) => {
    setFailure(undefined);
    setWeak(undefined);
    let { error } = await updatePassword(boot, password, code || undefined);
    if (error?.code === "reauthentication_needed" && !codeSent) {
      ({ error } = await sendReauthentication(boot));
      if (!error) {
        setCodeSent(true);
        return;
      }
    }
    if (!error) {
      reset();
      setCodeSent(false);
      areaToast({ title: t("account.password.saved") });
      void cache.invalidateQueries({ queryKey: SESSIONS });
      return;
    }
    if (error.code === "weak_password" || error.code === "same_password") setWeak(error);
    else setFailure(error);
    setFocus(error.code === "reauthentication_not_valid" ? "code" : "password");
  });

  const required = errors.password?.message;
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
        {/* Tells a password manager whose password this is. */}
        <input type="email" autoComplete="username" value={user?.email ?? ""} readOnly hidden />
        <PasswordField
          label={t("auth.setup.password")}
          autoComplete="new-password"
          readOnly={isSubmitting}
          hint={t("auth.setup.passwordHint")}
          className="w-full"
          error={required ? t(required as Key) : weak && failureText(t, weak)}
          {...register("password")}
        />
        {codeSent && (
          <TextField
            label={t("account.password.code")}
            hint={t("account.password.codeSent", { email: user?.email ?? "" })}
            inputMode="numeric"
            autoComplete="one-time-code"
            spellCheck={false}
            readOnly={isSubmitting}
            className="w-full"
            {...register("code")}
          />
        )}
        <Button type="submit" size="sm" loading={isSubmitting}>
          {isSubmitting ? t("common.saving") : t("account.password.submit")}
        </Button>
      </form>
    </AdminGroup>
  );
}
