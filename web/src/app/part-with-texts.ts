import type { ComponentType } from "react";
import { part } from "@/lib/part";
import { loadTexts, type TextPart } from "@/lib/texts";

/** A part of the site that says texts of its own. */
export function partWithTexts<P extends object>(
  texts: TextPart,
  load: () => Promise<ComponentType<P>>,
) {
  return part(async () => {
    const [component] = await Promise.all([load(), loadTexts(texts)]);
    return component;
  });
}
