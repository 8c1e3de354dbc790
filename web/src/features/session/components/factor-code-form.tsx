import { useEffect, useRef, useState } from "react";
import { useForm } from "react-hook-form";
import { zodResolver } from "@hookform/resolvers/zod";
import { SelectField } from "@/components/form/select-field";
import { TextField } from "@/components/form/text-field";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { challengeFactor } from "@/features/session/api/challenge-factor";
import { verifyFactor } from "@/features/session/api/verify-factor";
import { factorName, phoneEnd } from "@/features/session/factor-name";
import { failureText } from "@/features/session/failure-text";
import { factorCodeSchema, type CodeValues } from "@/features/session/schema";
import type { AuthFailure, SecondFactor } from "@/lib/auth";
import { useBoot } from "@/lib/boot";
import { useT } from "@/lib/i18n";
import type { TextKey } from "@/lib/texts";

/**
 * The form for the code of a second factor. An authenticator app shows its code. For a phone, a button of the form sends the code to
 * the phone first. `onDone` is called after a correct code.
 */
export function FactorCodeForm({ factors, onDone }: { factors: SecondFactor[]; onDone(): void }) {
  const t = useT();
  const boot = useBoot();
  // The id of the selected factor, or "" for the first one.
  const [chosenId, setChosenId] = useState("");
  // The challenge (a request for a code) whose code was sent to a phone.
  const [sent, setSent] = useState<{ factorId: string; challengeId: string }>();
  const [sending, setSending] = useState(false);
  const [failure, setFailure] = useState<{ title: TextKey; failure: AuthFailure }>();
  const sendButton = useRef<HTMLButtonElement>(null);
  const { register, handleSubmit, reset, setFocus, formState } = useForm<CodeValues>({
    resolver: zodResolver(factorCodeSchema),
    defaultValues: { code: "" },
  });
  const { errors, isSubmitting } = formState;

  const factor = factors.find(({ id }) => id === chosenId) ?? factors[0]!;
  const byPhone = factor.type === "phone";
  const challengeId = sent?.factorId === factor.id ? sent.challengeId : undefined;
  const takesCode = !byPhone || challengeId !== undefined;
  const lastDigits = phoneEnd(factor);

  // Focuses the next step: the field of the code, or the button that sends the code.
  useEffect(() => {
    if (takesCode) setFocus("code");
    else sendButton.current?.focus();
    // `takesCode` is not a dependency: choosing another factor must not move the focus out of the select.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [challengeId, setFocus]);

  async function sendCode() {
    setFailure(undefined);
    setSending(true);
    const challenge = await challengeFactor(boot, factor.id);
    setSending(false);
    if (challenge.error) setFailure({ title: "auth.factor.sendFailed", failure: challenge.error });
    else {
      reset();
      setSent({ factorId: factor.id, challengeId: challenge.id });
    }
  }

  const submit = handleSubmit(async ({ code }) => {
    setFailure(undefined);
    const { error } = await verifyFactor(boot, { factorId: factor.id, challengeId, code });
    if (!error) {
      onDone();
      return;
    }
    setFailure({ title: "auth.factor.failed", failure: error });
    setFocus("code", { shouldSelect: true });
  });

  return (
    <form noValidate onSubmit={(event) => void submit(event)} className="mt-8 grid gap-6">
      {failure && <Alert title={t(failure.title)}>{failureText(t, failure.failure)}</Alert>}
      {factors.length > 1 && (
        <SelectField
          label={t("auth.factor.which")}
          value={factor.id}
          disabled={isSubmitting || sending}
          onChange={(event) => {
            setChosenId(event.target.value);
            setFailure(undefined);
            reset();
          }}
        >
          {factors.map((choice) => (
            <option key={choice.id} value={choice.id}>
              {factorName(t, choice)}
            </option>
          ))}
        </SelectField>
      )}
      {byPhone && (
        <p role="status" className="text-ink2">
          {takesCode
            ? t("auth.factor.phoneSent", { end: lastDigits })
            : t("auth.factor.phone", { end: lastDigits })}
        </p>
      )}
      {takesCode && (
        <>
          <TextField
            label={t("auth.factor.code")}
            hint={byPhone ? undefined : t("auth.factor.app")}
            inputMode="numeric"
            autoComplete="one-time-code"
            spellCheck={false}
            required
            readOnly={isSubmitting}
            error={errors.code?.message && t(errors.code.message as TextKey)}
            {...register("code")}
          />
          <Button type="submit" className="w-full" loading={isSubmitting}>
            {isSubmitting ? t("common.loading") : t("auth.factor.submit")}
          </Button>
        </>
      )}
      {byPhone && (
        <Button
          ref={sendButton}
          variant={takesCode ? "outline" : "primary"}
          className="w-full"
          loading={sending}
          onClick={() => void sendCode()}
        >
          {sending
            ? t("common.loading")
            : t(takesCode ? "auth.factor.sendAgain" : "auth.factor.send")}
        </Button>
      )}
    </form>
  );
}
