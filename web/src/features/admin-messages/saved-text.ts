import type { SavedReply } from "@/lib/types";

/** The placeholder for the visitor's name in saved replies (texts that the owner inserts into replies). */
export const NAME_PLACEHOLDER = "{name}";

/**
 * Returns the text of a saved reply in the language. If the saved reply has no text in this language, returns the text in the other
 * one. `name` is the visitor's name, which replaces the placeholder.
 */
export function savedText(
  saved: Pick<SavedReply, "text_en" | "text_pt">,
  language: "en" | "pt",
  name: string,
): string {
  const [wanted, other] =
    language === "pt" ? [saved.text_pt, saved.text_en] : [saved.text_en, saved.text_pt];
  // A function returns the name, because in a replacement text "$" would have a special meaning.
  return (wanted || other || "").replaceAll(NAME_PLACEHOLDER, () => name);
}
