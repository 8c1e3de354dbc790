import "@/features/session/session-texts";
import type { Translate } from "@/lib/i18n";
import { singleToast } from "@/lib/toast";

/** Shows the welcome toast. Call it when the sign-in is complete. */
export function showWelcome(t: Translate): void {
  singleToast({ title: t("auth.welcomeTitle"), description: t("auth.welcomeBody") });
}
