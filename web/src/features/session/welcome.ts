import type { Translate } from "@/lib/i18n";
import { helperToast } from "@/lib/toast";

/** Said once a sign-in is complete. */
export function welcome(t: Translate): void {
  helperToast({ title: t("auth.welcomeTitle"), description: t("auth.welcomeBody") });
}
