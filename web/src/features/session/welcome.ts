import type { Translate } from "@/lib/i18n";
import { helperToast } from "@/lib/toast";

/** Shows the welcome toast after a complete sign-in. */
export function welcome(t: Translate): void {
  helperToast({ title: t("auth.welcomeTitle"), description: t("auth.welcomeBody") });
}
