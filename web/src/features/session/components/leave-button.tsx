import { useNavigate } from "react-router";
import { StepButton } from "@/features/session/components/step-button";
import { failureOf } from "@/features/session/failure";
import { failureText } from "@/features/session/failure-text";
import { ownerBackend } from "@/lib/backend";
import { useBoot } from "@/lib/boot";
import { useT } from "@/lib/i18n";
import type { ReturnState } from "@/lib/return-path";
import { helperToast } from "@/lib/toast";

/** Ends the session that waits for this step, on this device only, and shows the sign-in form again. */
export function LeaveButton({ from }: { from: string }) {
  const t = useT();
  const boot = useBoot();
  const navigate = useNavigate();

  async function leave() {
    try {
      const client = await ownerBackend(boot);
      const { error } = await client.auth.signOut({ scope: "local" });
      if (error) throw error;
      const state: ReturnState = { from };
      void navigate("/admin/auth", { replace: true, state });
    } catch (error) {
      const description = failureText(t, failureOf(error));
      helperToast({ title: t("auth.signOutError"), description, destructive: true });
    }
  }

  return <StepButton onClick={() => void leave()}>{t("auth.back")}</StepButton>;
}
