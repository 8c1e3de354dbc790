import type { COVER_TEXTS } from "@/features/admin-covers/schema";
import type { Translate } from "@/lib/i18n";

/**
 * The labels of the texts of a cover (a large picture or video at the top of the home page). The dialogs that compare two
 * versions of a cover use them: the conflict dialog and the history.
 */
export function textLabels(t: Translate): Record<(typeof COVER_TEXTS)[number], string> {
  const inPortuguese = (label: string) => t("form.inPortuguese", { label });
  return {
    title: t("covers.title"),
    title_pt: inPortuguese(t("covers.title")),
    description: t("covers.description"),
    description_pt: inPortuguese(t("covers.description")),
    alt_en: t("covers.alt"),
    alt_pt: inPortuguese(t("covers.alt")),
  };
}
