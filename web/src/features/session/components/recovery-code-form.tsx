import { useEffect, useState } from "react";
import { useForm } from "react-hook-form";
import { zodResolver } from "@hookform/resolvers/zod";
import { TextField } from "@/components/form/text-field";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { verifyRecoveryCode } from "@/features/session/api/verify-recovery-code";
import { failureText } from "@/features/session/failure-text";
import { recoveryCodeSchema, type CodeValues } from "@/features/session/schema";
import type { AuthFailure } from "@/lib/auth";
import { useBoot } from "@/lib/boot";
import { useT } from "@/lib/i18n";
import type { TextKey } from "@/lib/texts";

/** The form for a recovery code, which replaces the code of a second factor once. `onDone` is called after a correct code. */
export function RecoveryCodeForm({ onDone }: { onDone(): void }) {
  const t = useT();
  const boot = useBoot();
  const [failure, setFailure] = useState<AuthFailure>();
  const { register, handleSubmit, setFocus, formState } = useForm<CodeValues>({
    resolver: zodResolver(recoveryCodeSchema),
    defaultValues: { code: "" },
  });
  const { errors, isSubmitting } = formState;

  useEffect(() => setFocus("code"), [setFocus]);

  const submit = handleSubmit(async ({ code }) => {
    setFailure(undefined);
    const { error } = await verifyRecoveryCode(boot, code);
    if (!error) {
      onDone();
      return;
    }
    setFailure(error);
    setFocus("code", { shouldSelect: true });
  });

  return (
    <form noValidate onSubmit={(event) => void submit(event)} className="mt-8 grid gap-6">
      {failure && <Alert title={t("auth.factor.failed")}>{failureText(t, failure)}</Alert>}
      <TextField
        label={t("auth.factor.recovery")}
        hint={t("auth.factor.recoveryHint")}
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        required
        readOnly={isSubmitting}
        error={errors.code?.message && t(errors.code.message as TextKey)}
        {...register("code")}
      />
      <Button type="submit" className="w-full" loading={isSubmitting}>
        {isSubmitting ? t("common.loading") : t("auth.factor.submit")}
      </Button>
    </form>
  );
}
