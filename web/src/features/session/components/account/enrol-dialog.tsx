import { useEffect, useEffectEvent, useState } from "react";
import { zodResolver } from "@hookform/resolvers/zod";
import { useForm } from "react-hook-form";
import { TextField } from "@/components/form/text-field";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import {
  DialogClose,
  DialogContent,
  DialogRoot,
  DialogTitle,
  focusDialog,
} from "@/components/ui/dialog";
import { enrolApp, type Enrolment } from "@/features/session/api/enrol-app";
import { verifyFactor } from "@/features/session/api/verify-factor";
import { useReauthentication } from "@/features/session/reauthentication";
import { failureText } from "@/features/session/failure-text";
import { factorCodeSchema, type CodeValues } from "@/features/session/schema";
import type { AuthFailure } from "@/lib/auth";
import { useBoot } from "@/lib/boot";
import { useT } from "@/lib/i18n";
import type { TextKey } from "@/lib/texts";

type EnrolDialogProps = {
  onClose(): void;
  /** Called when the app is verified. */
  onEnrolled(): void;
};

/** Enrols an authenticator app: shows the QR code and the key, then verifies the first code of the app. */
export function EnrolDialog({ onClose, onEnrolled }: EnrolDialogProps) {
  const t = useT();
  const boot = useBoot();
  const { name: siteName } = boot.site;
  const { withReauthentication, isDialogOpen } = useReauthentication();
  const [enrolment, setEnrolment] = useState<Enrolment>();
  const [failure, setFailure] = useState<AuthFailure>();
  const { register, handleSubmit, setFocus, formState } = useForm<CodeValues>({
    resolver: zodResolver(factorCodeSchema),
    defaultValues: { code: "" },
  });
  const { errors, isSubmitting } = formState;

  const close = useEffectEvent(onClose);
  // Begins the enrolment when the dialog opens, and closes the dialog if the owner refuses to reauthenticate.
  useEffect(() => {
    let isCancelled = false;
    void withReauthentication(() => enrolApp(boot, siteName)).then((result) => {
      if (isCancelled) return;
      if (!result) close();
      else if (result.error) setFailure(result.error);
      else setEnrolment(result.enrolment);
    });
    return () => {
      isCancelled = true;
    };
  }, [boot, siteName, withReauthentication]);

  const submit = handleSubmit(async ({ code }) => {
    if (!enrolment) return;
    setFailure(undefined);
    const { error } = await verifyFactor(boot, { factorId: enrolment.id, code });
    if (!error) {
      onEnrolled();
      return;
    }
    setFailure(error);
    setFocus("code", { shouldSelect: true });
  });

  // Hidden while the reauthentication dialog is open, so that only one dialog is visible.
  if (isDialogOpen) return null;
  return (
    <DialogRoot
      open
      onOpenChange={(open) => {
        if (!open && !isSubmitting) onClose();
      }}
    >
      <DialogContent
        className="max-w-[600px] p-6 outline-none sm:p-8"
        onOpenAutoFocus={focusDialog}
      >
        <DialogTitle className="pr-12 text-[1.75rem] leading-tight font-[350]">
          {t("account.factor.add")}
        </DialogTitle>
        <form noValidate onSubmit={(event) => void submit(event)} className="mt-4 grid gap-5">
          {failure && <Alert title={t("account.factor.failed")}>{failureText(t, failure)}</Alert>}
          {enrolment ? (
            <>
              <p>{t("account.factor.scan")}</p>
              <div className="grid gap-5 sm:grid-cols-[auto_1fr] sm:items-center">
                {/* Dark on white in both colour schemes, because some cameras cannot read inverted codes. */}
                <img
                  src={enrolment.qrCode}
                  alt={t("account.factor.qr")}
                  width={184}
                  height={184}
                  className="rounded-sm bg-white p-2"
                />
                <div>
                  <p className="text-ink2 text-sm">{t("account.factor.secret")}</p>
                  <p className="mt-1 font-mono break-all">
                    {enrolment.secret.replace(/(.{4})(?=.)/g, "$1 ")}
                  </p>
                </div>
              </div>
              <TextField
                label={t("auth.factor.code")}
                hint={t("auth.factor.app")}
                inputMode="numeric"
                autoComplete="one-time-code"
                spellCheck={false}
                required
                readOnly={isSubmitting}
                error={errors.code?.message && t(errors.code.message as TextKey)}
                {...register("code")}
              />
              <div className="flex justify-end gap-2">
                <Button variant="ghost" size="sm" disabled={isSubmitting} onClick={onClose}>
                  {t("common.cancel")}
                </Button>
                <Button type="submit" size="sm" loading={isSubmitting}>
                  {isSubmitting ? t("common.loading") : t("auth.factor.submit")}
                </Button>
              </div>
            </>
          ) : (
            !failure && (
              <p role="status" className="text-ink2">
                {t("common.loading")}
              </p>
            )
          )}
        </form>
        <DialogClose />
      </DialogContent>
    </DialogRoot>
  );
}
