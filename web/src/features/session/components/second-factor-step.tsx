import { useState } from "react";
import { FactorCodeForm } from "@/features/session/components/factor-code-form";
import { LeaveButton } from "@/features/session/components/leave-button";
import { RecoveryCodeForm } from "@/features/session/components/recovery-code-form";
import { StepButton } from "@/features/session/components/step-button";
import { welcome } from "@/features/session/welcome";
import type { SecondFactor } from "@/lib/auth";
import { useT } from "@/lib/i18n";

type SecondFactorStepProps = {
  factors: SecondFactor[];
  from: string;
  /** False when a new password is still to be chosen. */
  last: boolean;
};

/** After the password: a code of one of the account's factors, or a recovery code. */
export function SecondFactorStep({ factors, from, last }: SecondFactorStepProps) {
  const t = useT();
  const [recovery, setRecovery] = useState(false);
  // The page itself goes on as soon as the session has risen.
  const done = () => {
    if (last) welcome(t);
  };
  return (
    <>
      <h1 className="text-h2">{t("auth.factor.title")}</h1>
      {recovery ? (
        <RecoveryCodeForm onDone={done} />
      ) : (
        <FactorCodeForm {...{ factors }} onDone={done} />
      )}
      <div className="mt-4 grid justify-items-start">
        <StepButton onClick={() => setRecovery(!recovery)}>
          {recovery ? t("auth.factor.useCode") : t("auth.factor.useRecovery")}
        </StepButton>
        <LeaveButton from={from} />
      </div>
    </>
  );
}
