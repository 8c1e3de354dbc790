import { useState } from "react";
import { FactorCodeForm } from "@/features/session/components/factor-code-form";
import { BackToSignIn } from "@/features/session/components/back-to-sign-in";
import { RecoveryCodeForm } from "@/features/session/components/recovery-code-form";
import { StepButton } from "@/features/session/components/step-button";
import { welcome } from "@/features/session/welcome";
import type { SecondFactor } from "@/lib/auth";
import { useT } from "@/lib/i18n";

type SecondFactorStepProps = {
  factors: SecondFactor[];
  /** Where to go after signing in. */
  from: string;
  /** Whether this is the last step; false if a new password is chosen next. */
  last: boolean;
};

/** The step of signing in that verifies a second factor or a recovery code. */
export function SecondFactorStep({ factors, from, last }: SecondFactorStepProps) {
  const t = useT();
  const [usesRecoveryCode, setUsesRecoveryCode] = useState(false);
  // The page shows the next step by itself when the session has become aal2.
  const done = () => {
    if (last) welcome(t);
  };
  return (
    <>
      <h1 className="text-h2">{t("auth.factor.title")}</h1>
      {usesRecoveryCode ? (
        <RecoveryCodeForm onDone={done} />
      ) : (
        <FactorCodeForm {...{ factors }} onDone={done} />
      )}
      <div className="mt-4 grid justify-items-start">
        <StepButton onClick={() => setUsesRecoveryCode(!usesRecoveryCode)}>
          {usesRecoveryCode ? t("auth.factor.useCode") : t("auth.factor.useRecovery")}
        </StepButton>
        <BackToSignIn from={from} />
      </div>
    </>
  );
}
