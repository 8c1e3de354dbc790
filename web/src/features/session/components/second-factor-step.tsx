import { useState } from "react";
import { FactorCodeForm } from "@/features/session/components/factor-code-form";
import { BackToSignIn } from "@/features/session/components/back-to-sign-in";
import { RecoveryCodeForm } from "@/features/session/components/recovery-code-form";
import { StepButton } from "@/features/session/components/step-button";
import { showWelcome } from "@/features/session/welcome";
import type { SecondFactor } from "@/lib/auth";
import { useT } from "@/lib/i18n";

type SecondFactorStepProps = {
  /** The factors of the account, one of which must be verified. */
  factors: SecondFactor[];
  /** The admin page to go to after signing in. */
  from: string;
  /** Whether signing in ends with this step; false if the user chooses a new password next. */
  last: boolean;
};

/** The step of signing in that verifies a second factor or a recovery code. */
export function SecondFactorStep({ factors, from: returnTo, last }: SecondFactorStepProps) {
  const t = useT();
  const [usesRecoveryCode, setUsesRecoveryCode] = useState(false);
  // The page shows the next step by itself once the session has the level aal2 (signed in with a second factor).
  const onVerified = () => {
    if (last) showWelcome(t);
  };
  return (
    <>
      <h1 className="text-h2">{t("auth.factor.title")}</h1>
      {usesRecoveryCode ? (
        <RecoveryCodeForm onDone={onVerified} />
      ) : (
        <FactorCodeForm factors={factors} onDone={onVerified} />
      )}
      <div className="mt-4 grid justify-items-start">
        <StepButton onClick={() => setUsesRecoveryCode(!usesRecoveryCode)}>
          {usesRecoveryCode ? t("auth.factor.useCode") : t("auth.factor.useRecovery")}
        </StepButton>
        <BackToSignIn from={returnTo} />
      </div>
    </>
  );
}
