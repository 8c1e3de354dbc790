import type { Language, SiteTextKey } from "@/lib/boot";
import type { TextKey } from "@/lib/texts";
import type { SettingsResponse } from "@/lib/types";

/** The steps of the first-run guide in order. Each step is a page with some of the settings. */
export const GUIDE_STEPS = ["name", "portrait", "texts", "trustedBy", "links", "works"] as const;
/** A step of the first-run guide. */
export type GuideStep = (typeof GUIDE_STEPS)[number];

/** The URL of the guide at a step. */
export const guideUrl = (step: GuideStep) => `/admin/guide?step=${step}`;

/** The titles of the steps, as text keys. */
export const STEP_TITLES: Record<GuideStep, TextKey> = {
  name: "settings.name",
  portrait: "settings.portrait",
  texts: "guide.texts",
  trustedBy: "settings.text.trustedBy",
  links: "settings.group.links",
  works: "guide.works",
};

/** The names of the owner's texts with these keys in both languages. */
const inBothLanguages = (...keys: SiteTextKey[]) =>
  (["en", "pt"] satisfies Language[]).flatMap((language) =>
    keys.map((key) => `site.texts.${language}.${key}`),
  );

/**
 * The settings of each step, by the names that the server uses in `seed`, the list of settings that the owner has not changed
 * yet. The portrait's alternative text is not among them, because the text that a new site starts with fits every portrait.
 */
const STEP_SETTINGS: Record<GuideStep, readonly string[]> = {
  name: ["site.name"],
  portrait: ["site.portrait"],
  texts: inBothLanguages(
    "about.title",
    "about.description",
    "about.description2",
    "contact.responseTime",
    "contact.success.body",
  ),
  trustedBy: inBothLanguages("testimonials.trustedBy"),
  links: ["site.instagram", "site.facebook", "site.whatsapp", "site.email"],
  works: ["works"],
};

/**
 * "seed": some of the step's settings still have the value that a new site starts with. "empty": they have no value. "own":
 * the owner has set them.
 */
export type StepState = "seed" | "empty" | "own";

/** The state of a step; `works` is the number of works, if it is known. */
export function stateOf(step: GuideStep, { seed, settings }: SettingsResponse, works?: number) {
  const { portrait, instagram, facebook, whatsapp, email } = settings.site;
  const emptySteps: Partial<Record<GuideStep, boolean>> = {
    portrait: !portrait,
    links: !(instagram || facebook || whatsapp || email),
    works: works === 0,
  };
  const state: StepState = STEP_SETTINGS[step].some((name) => seed.includes(name))
    ? "seed"
    : emptySteps[step]
      ? "empty"
      : "own";
  return state;
}

/** The steps whose settings still have a seed value. */
export const stepsWithSeed = (answer: SettingsResponse): GuideStep[] =>
  GUIDE_STEPS.filter((step) => stateOf(step, answer) === "seed");
