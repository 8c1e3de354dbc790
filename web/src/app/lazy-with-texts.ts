import type { ComponentType } from "react";
import { lazyWithPreload } from "@/lib/lazy-with-preload";
import { loadTexts, type TextBundle } from "@/lib/texts";

/** Like lazyWithPreload, for a component that needs a text bundle: the bundle loads together with the code. */
export function lazyWithTexts<P extends object>(
  texts: TextBundle,
  load: () => Promise<ComponentType<P>>,
) {
  return lazyWithPreload(async () => {
    const [component] = await Promise.all([load(), loadTexts(texts)]);
    return component;
  });
}
