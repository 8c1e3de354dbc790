import type { Translate } from "@/lib/i18n";
import { stackedToast } from "@/lib/toast";

/** Shows a toast that says that an action has failed. `description` says what has failed, or why. */
export function errorToast(t: Translate, description: string): void {
  stackedToast({ title: t("common.error"), description, destructive: true });
}
