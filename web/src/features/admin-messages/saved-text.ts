import type { SavedReply } from "@/lib/types";

/** What a saved reply has in place of the visitor's name. */
export const NAME_PLACEHOLDER = "{name}";

/** The text of a saved reply in the language of a message, or in the other one if that is missing, with the visitor's name. */
export function savedText(
  saved: Pick<SavedReply, "text_en" | "text_pt">,
  language: "en" | "pt",
  name: string,
): string {
  const [wanted, other] =
    language === "pt" ? [saved.text_pt, saved.text_en] : [saved.text_en, saved.text_pt];
  // A function, because replaceAll gives $ in a text a meaning.
  return (wanted || other || "").replaceAll(NAME_PLACEHOLDER, () => name);
}
