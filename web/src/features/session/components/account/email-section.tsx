import { useState } from "react";
import { zodResolver } from "@hookform/resolvers/zod";
import { useForm } from "react-hook-form";
import { TextField } from "@/components/form/text-field";
import { AdminGroup } from "@/components/layout/admin-group";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { changeEmail } from "@/features/session/api/change-email";
import { useReauthentication } from "@/features/session/reauthentication";
import { failureText } from "@/features/session/failure-text";
import { emailSchema, type EmailValues } from "@/features/session/schema";
import { useAuth, type AuthFailure } from "@/lib/auth";
import { useBoot } from "@/lib/boot";
import { useT } from "@/lib/i18n";
import type { TextKey } from "@/lib/texts";
import { stackedToast } from "@/lib/toast";

/** The form that changes the account's email address. The change takes effect when both mailed links have been opened. */
export function EmailSection() {
  const t = useT();
  const boot = useBoot();
  const { user } = useAuth();
  const { withReauthentication } = useReauthentication();
  const [failure, setFailure] = useState<AuthFailure>();
  const { register, handleSubmit, reset, setFocus, formState } = useForm<EmailValues>({
    resolver: zodResolver(emailSchema),
    defaultValues: { email: "" },
  });
  const { errors, isSubmitting } = formState;
  // The requested address until the change takes effect. A request updates the user before it returns.
  const pendingEmail = user?.new_email;

  const submit = handleSubmit(async ({ email }) => {
    setFailure(undefined);
    const result = await withReauthentication(() => changeEmail(boot, email));
    if (!result) return; // the owner has closed the dialog that asks for the password
    if (result.error) {
      setFailure(result.error);
      setFocus("email");
      return;
    }
    reset();
    if (result.changed) stackedToast({ title: t("account.email.changed") });
  });

  return (
    <AdminGroup
      title={t("account.email.title")}
      intro={t("account.email.intro", { email: user?.email ?? "" })}
    >
      <p
        role="status"
        className={pendingEmail ? "bg-indigo-tint max-w-[42em] rounded-sm px-4 py-3" : "sr-only"}
      >
        {pendingEmail && t("account.email.waiting", { email: pendingEmail })}
      </p>
      <form
        noValidate
        onSubmit={(event) => void submit(event)}
        className="grid max-w-[28em] justify-items-start gap-6"
      >
        {failure && (
          <Alert title={t("account.email.failed")} className="w-full">
            {failureText(t, failure)}
          </Alert>
        )}
        <TextField
          label={t("account.email.new")}
          type="email"
          autoComplete="email"
          readOnly={isSubmitting}
          className="w-full"
          error={errors.email?.message && t(errors.email.message as TextKey)}
          {...register("email")}
        />
        <Button type="submit" size="sm" loading={isSubmitting}>
          {isSubmitting ? t("common.saving") : t("account.email.submit")}
        </Button>
      </form>
    </AdminGroup>
  );
}
