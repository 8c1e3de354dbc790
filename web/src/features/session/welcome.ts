import type { Translate } from "@/lib/i18n";
import { helperToast } from "@/lib/toast";

/** Shows the welcome toast. Called when no further step of signing in follows. */
export function showWelcome(t: Translate): void {
  helperToast({ title: t("auth.welcomeTitle"), description: t("auth.welcomeBody") });
}
