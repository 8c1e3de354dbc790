import type { SavedReply } from "@/lib/types";

/** The placeholder for the visitor's name in the texts of saved replies. */
export const NAME_PLACEHOLDER = "{name}";

/**
 * The text of a saved reply in this language, or in the other language if it has none in this one. `name` is the visitor's
 * name, which replaces the placeholder.
 */
export function savedText(
  saved: Pick<SavedReply, "text_en" | "text_pt">,
  language: "en" | "pt",
  name: string,
): string {
  const [wanted, other] =
    language === "pt" ? [saved.text_pt, saved.text_en] : [saved.text_en, saved.text_pt];
  // A function, because in a replacement text "$" has a special meaning.
  return (wanted || other || "").replaceAll(NAME_PLACEHOLDER, () => name);
}
