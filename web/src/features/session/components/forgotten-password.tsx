import { useEffect, useRef, useState } from "react";
import { useForm } from "react-hook-form";
import { zodResolver } from "@hookform/resolvers/zod";
import { TextField } from "@/components/form/text-field";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { TextLink } from "@/components/ui/text-link";
import { requestPasswordLink } from "@/features/session/api/request-password-link";
import { StepButton } from "@/features/session/components/step-button";
import { failureText } from "@/features/session/failure-text";
import { emailSchema, type EmailValues } from "@/features/session/schema";
import type { AuthFailure } from "@/lib/auth";
import { useBoot } from "@/lib/boot";
import { useT } from "@/lib/i18n";
import type { ReturnState } from "@/lib/return-path";
import type { TextKey } from "@/lib/texts";

type ForgottenPasswordProps = {
  /** The admin page to go to after signing in. */
  from: string;
  /** The error of the mailed link that opened this page; null if there is none. */
  linkError: AuthFailure | null;
};

/**
 * The step of the sign-in page that requests a mail for choosing a new password. The text after sending does not reveal whether the
 * account exists.
 */
export function ForgottenPassword({ from: returnTo, linkError }: ForgottenPasswordProps) {
  const t = useT();
  const boot = useBoot();
  // The address to which the mail was sent; undefined until then.
  const [sentTo, setSentTo] = useState<string>();
  const [failure, setFailure] = useState<AuthFailure>();
  const sentTitle = useRef<HTMLHeadingElement>(null);
  const { register, handleSubmit, setFocus, formState } = useForm<EmailValues>({
    resolver: zodResolver(emailSchema),
    defaultValues: { email: "" },
  });
  const { errors, isSubmitting } = formState;
  const state: ReturnState = { from: returnTo };

  // Focuses the field of the form, or the title that replaces the form after sending.
  useEffect(() => {
    if (sentTo === undefined) setFocus("email");
    else sentTitle.current?.focus();
  }, [sentTo, setFocus]);

  const submit = handleSubmit(async ({ email }) => {
    setFailure(undefined);
    const { error } = await requestPasswordLink(boot, email, returnTo);
    if (error) setFailure(error);
    else setSentTo(email);
  });

  const back = (
    <TextLink to="/admin/auth" state={state} className="inline-flex min-h-11 items-center">
      {t("auth.back")}
    </TextLink>
  );

  if (sentTo !== undefined) {
    return (
      <>
        <h1 ref={sentTitle} tabIndex={-1} className="text-h2">
          {t("auth.forgot.sentTitle")}
        </h1>
        <p className="text-ink2 mt-2">{t("auth.forgot.sentBody", { email: sentTo })}</p>
        <div className="mt-8 grid justify-items-start">
          <StepButton onClick={() => setSentTo(undefined)}>{t("auth.forgot.again")}</StepButton>
          {back}
        </div>
      </>
    );
  }
  return (
    <>
      <h1 className="text-h2">{t("auth.forgot.title")}</h1>
      <p className="text-ink2 mt-2">{t("auth.forgot.body")}</p>
      <form noValidate onSubmit={(event) => void submit(event)} className="mt-8 grid gap-6">
        {failure ? (
          <Alert title={t("auth.forgot.failed")}>{failureText(t, failure)}</Alert>
        ) : (
          linkError && <Alert title={t("auth.link.failed")}>{failureText(t, linkError)}</Alert>
        )}
        <TextField
          label={t("auth.email")}
          type="email"
          autoComplete="username"
          required
          readOnly={isSubmitting}
          error={errors.email?.message && t(errors.email.message as TextKey)}
          {...register("email")}
        />
        <Button type="submit" className="w-full" loading={isSubmitting}>
          {isSubmitting ? t("auth.forgot.busy") : t("auth.forgot.submit")}
        </Button>
      </form>
      <p className="mt-4">{back}</p>
    </>
  );
}
