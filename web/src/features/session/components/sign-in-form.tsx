import { useEffect, useState } from "react";
import { useForm } from "react-hook-form";
import { zodResolver } from "@hookform/resolvers/zod";
import { PasswordField } from "@/components/form/password-field";
import { TextField } from "@/components/form/text-field";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { TextLink } from "@/components/ui/text-link";
import { failureText } from "@/features/session/failure-text";
import { FORGOTTEN } from "@/features/session/mailed-link";
import { signInSchema, type Credentials } from "@/features/session/schema";
import { useAuth, type AuthFailure } from "@/lib/auth";
import { useT } from "@/lib/i18n";
import type { ReturnState } from "@/lib/return-path";
import type { TextKey } from "@/lib/texts";

/**
 * The sign-in form for email and password. `from` is the admin page to go to after signing in. `focus` says whether to focus the
 * first field: true if another step was shown before, because the focus was in that step.
 */
export function SignInForm({ from: returnTo, focus }: { from: string; focus: boolean }) {
  const t = useT();
  const { signIn } = useAuth();
  const [failure, setFailure] = useState<AuthFailure>();
  const { register, handleSubmit, setFocus, formState } = useForm<Credentials>({
    resolver: zodResolver(signInSchema),
    defaultValues: { email: "", password: "" },
  });
  const { errors, isSubmitting } = formState;
  const errorText = (key: string | undefined) => key && t(key as TextKey);
  const state: ReturnState = { from: returnTo };

  useEffect(() => {
    if (focus) setFocus("email");
  }, [focus, setFocus]);

  const submit = handleSubmit(async ({ email, password }) => {
    setFailure(undefined);
    const { error } = await signIn(email, password);
    if (error) setFailure(error);
  });

  return (
    <>
      <h1 className="text-h2">{t("auth.title")}</h1>
      <p className="text-ink2 mt-2">{t("auth.body")}</p>
      <form noValidate onSubmit={(event) => void submit(event)} className="mt-8 grid gap-6">
        {failure && <Alert title={t("auth.failed")}>{failureText(t, failure)}</Alert>}
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
          label={t("auth.password")}
          autoComplete="current-password"
          required
          readOnly={isSubmitting}
          error={errorText(errors.password?.message)}
          {...register("password")}
        />
        <Button type="submit" className="w-full" loading={isSubmitting}>
          {isSubmitting ? t("auth.busy") : t("auth.submit")}
        </Button>
      </form>
      <p className="mt-4">
        <TextLink
          to={`/admin/auth?${FORGOTTEN}`}
          state={state}
          className="inline-flex min-h-11 items-center"
        >
          {t("auth.forgot.link")}
        </TextLink>
      </p>
    </>
  );
}
