import { useState } from "react";
import { useForm } from "react-hook-form";
import { zodResolver } from "@hookform/resolvers/zod";
import { PasswordField } from "@/components/form/password-field";
import { TextField } from "@/components/form/text-field";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { TextLink } from "@/components/ui/text-link";
import { failureText } from "@/features/session/failure-text";
import { setUpSchema, type Credentials } from "@/features/session/schema";
import { useAuth, type AuthFailure } from "@/lib/auth";
import { useT } from "@/lib/i18n";
import type { TextKey } from "@/lib/texts";

/**
 * The step of the sign-in page that a set-up link opens. A set-up link works once and makes somebody the first owner of a new
 * site; `token` is its token. The owner chooses email and password, and is then signed in.
 */
export function SetUpForm({ token }: { token: string }) {
  const t = useT();
  const { setUp } = useAuth();
  // Why the server refuses the password, shown at the field. Other failures are shown above the form.
  const [passwordFailure, setPasswordFailure] = useState<AuthFailure>();
  const [failure, setFailure] = useState<AuthFailure>();
  const { register, handleSubmit, setFocus, formState } = useForm<Credentials>({
    resolver: zodResolver(setUpSchema),
    defaultValues: { email: "", password: "" },
  });
  const { errors, isSubmitting } = formState;
  const errorText = (key: string | undefined) => key && t(key as TextKey);

  const submit = handleSubmit(async ({ email, password }) => {
    setFailure(undefined);
    setPasswordFailure(undefined);
    const { error } = await setUp(token, email, password);
    if (error?.code === "weak_password") {
      setPasswordFailure(error);
      setFocus("password");
    } else if (error) setFailure(error);
  });
  const isLinkUsed = failure?.code === "setup_link_invalid";

  return (
    <>
      <h1 className="text-h2">{t("auth.setup.title")}</h1>
      <p className="text-ink2 mt-2">{t("auth.setup.body")}</p>
      <form noValidate onSubmit={(event) => void submit(event)} className="mt-8 grid gap-6">
        {failure && (
          <Alert title={t("auth.setup.failed")}>
            <p>{isLinkUsed ? t("auth.setup.invalid") : failureText(t, failure)}</p>
            {(isLinkUsed || failure.code === "sign_in_needed") && (
              <TextLink to="/admin/auth" replace className="mt-1 inline-block">
                {t("auth.setup.signIn")}
              </TextLink>
            )}
          </Alert>
        )}
        <TextField
          label={t("auth.email")}
          type="email"
          autoComplete="username"
          required
          readOnly={isSubmitting}
          error={errorText(errors.email?.message)}
          {...register("email")}
        />
        <PasswordField
          label={t("auth.setup.password")}
          autoComplete="new-password"
          required
          readOnly={isSubmitting}
          hint={t("auth.setup.passwordHint")}
          error={
            errorText(errors.password?.message) ??
            (passwordFailure && failureText(t, passwordFailure))
          }
          {...register("password")}
        />
        <Button type="submit" className="w-full" loading={isSubmitting}>
          {isSubmitting ? t("auth.busy") : t("auth.setup.submit")}
        </Button>
      </form>
    </>
  );
}
