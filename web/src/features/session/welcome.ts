import type { Translate } from "@/lib/i18n";
import { singleToast } from "@/lib/toast";

/** Shows the welcome toast. Called when no further step of signing in follows. */
export function showWelcome(t: Translate): void {
  singleToast({ title: t("auth.welcomeTitle"), description: t("auth.welcomeBody") });
}
