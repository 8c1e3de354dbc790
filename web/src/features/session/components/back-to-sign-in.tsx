import "@/features/session/session-texts";
import { useNavigate } from "react-router";
import { StepButton } from "@/features/session/components/step-button";
import { failureOf } from "@/features/session/failure";
import { failureText } from "@/features/session/failure-text";
import { ownerBackend } from "@/lib/backend";
import { useBoot } from "@/lib/boot";
import { useT } from "@/lib/i18n";
import type { ReturnState } from "@/lib/return-path";
import { singleToast } from "@/lib/toast";

/**
 * The button that cancels the sign-in in a step after the sign-in form. It ends the session of this browser and shows the sign-in form
 * again. `from` is the admin page to go to after signing in.
 */
export function BackToSignIn({ from: returnTo }: { from: string }) {
  const t = useT();
  const boot = useBoot();
  const navigate = useNavigate();

  async function leave() {
    try {
      const client = await ownerBackend(boot);
      const { error } = await client.auth.signOut({ scope: "local" });
      if (error) throw error;
      const state: ReturnState = { from: returnTo };
      void navigate("/admin/auth", { replace: true, state });
    } catch (error) {
      const description = failureText(t, failureOf(error));
      singleToast({ title: t("auth.signOutError"), description, destructive: true });
    }
  }

  return <StepButton onClick={() => void leave()}>{t("auth.back")}</StepButton>;
}
