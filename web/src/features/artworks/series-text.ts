import type { Language } from "@/lib/boot";
import type { Series } from "@/lib/types";

/** A text of the owner; `lang` is set if it is in another language than the page. */
export type OwnText = { text: string; lang?: Language };

/** The title of a series in a language; where the Portuguese one is missing, the other one. */
export function seriesTitle(
  { title, title_pt }: Pick<Series, "title" | "title_pt">,
  language: Language,
): OwnText {
  if (language === "en") return { text: title };
  return title_pt ? { text: title_pt } : { text: title, lang: "en" };
}

/** The text of a series in a language; where it is missing, the other one, and "" if there is none. */
export function seriesAbout(
  { text, text_pt }: Pick<Series, "text" | "text_pt">,
  language: Language,
): OwnText {
  const own = language === "en" ? text : text_pt;
  if (own) return { text: own };
  return language === "en" ? { text: text_pt ?? "", lang: "pt" } : { text: text ?? "", lang: "en" };
}
