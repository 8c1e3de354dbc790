import { useState } from "react";
import { useForm } from "react-hook-form";
import { zodResolver } from "@hookform/resolvers/zod";
import { PasswordField } from "@/components/form/password-field";
import { TextField } from "@/components/form/text-field";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { TextLink } from "@/components/ui/text-link";
import { setUpSchema, type Credentials } from "@/features/session/schema";
import { useAuth } from "@/lib/auth";
import { PASSWORD_MIN } from "@/lib/constants";
import { useT } from "@/lib/i18n";

/** Behind a one-time link: the owner chooses e-mail and password and is signed in at once. */
export function SetUpForm({ token }: { token: string }) {
  const t = useT();
  const { setUp } = useAuth();
  const [failure, setFailure] = useState<{ text: string; signIn: boolean }>();
  const { register, handleSubmit, setError, formState } = useForm<Credentials>({
    resolver: zodResolver(setUpSchema),
    defaultValues: { email: "", password: "" },
  });
  const { errors, isSubmitting } = formState;
  // A message is a catalogue key from our schema, or the service's own words.
  const text = (message: string | undefined) =>
    message === "auth.setup.passwordShort" || message === "contact.error.email"
      ? t(message, { n: PASSWORD_MIN })
      : message;

  const submit = handleSubmit(async ({ email, password }) => {
    setFailure(undefined);
    const { error } = await setUp(token, email, password);
    if (!error) return;
    if (error.code === "weak_password" && error.message) {
      setError("password", { message: error.message }, { shouldFocus: true });
    } else if (error.code === "setup_link_invalid") {
      setFailure({ text: t("auth.setup.invalid"), signIn: true });
    } else {
      setFailure({
        text: error.message || t("auth.unexpected"),
        signIn: error.code === "sign_in_needed",
      });
    }
  });

  return (
    <>
      <h1 className="text-h2">{t("auth.setup.title")}</h1>
      <p className="text-ink2 mt-2">{t("auth.setup.body")}</p>
      <form noValidate onSubmit={(event) => void submit(event)} className="mt-8 grid gap-6">
        {failure && (
          <Alert title={t("auth.setup.failed")}>
            <p>{failure.text}</p>
            {failure.signIn && (
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
          error={text(errors.email?.message)}
          {...register("email")}
        />
        <PasswordField
          label={t("auth.setup.password")}
          autoComplete="new-password"
          required
          readOnly={isSubmitting}
          hint={t("auth.setup.passwordHint", { n: PASSWORD_MIN })}
          error={text(errors.password?.message)}
          {...register("password")}
        />
        <Button type="submit" className="w-full" loading={isSubmitting}>
          {isSubmitting ? t("auth.busy") : t("auth.setup.submit")}
        </Button>
      </form>
    </>
  );
}
