import type { SiteTexts } from "@/lib/boot";
import type { MeasuredResponse } from "@/lib/types";

/**
 * The settings for the preview. They contain the measured response time if the owner has chosen it
 * and it could be measured.
 */
export function pageSite(site: SiteTexts, measured: MeasuredResponse | undefined): SiteTexts {
  if (site.responseTime !== "measured" || !measured?.en) return site;
  const { en, pt } = site.texts;
  return {
    ...site,
    texts: {
      en: { ...en, "contact.responseTime": measured.en },
      pt: { ...pt, "contact.responseTime": measured.pt },
    },
  };
}
