import type { SiteTexts } from "@/lib/boot";
import type { MeasuredResponse } from "@/lib/types";

/**
 * Returns the settings as the public pages show them, for the preview. If the owner has chosen the measured response time, and
 * the server could measure it, its text replaces the text that the owner has written. `measured` has the text in both languages.
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
