import type { Language, SiteTextKey } from "@/lib/boot";
import type { TextKey } from "@/lib/texts";
import type { SettingsResponse } from "@/lib/types";

// The steps of the first-run guide, and the state of each step. In the guide, the owner of a new site replaces the seed (the texts and
// settings that a new site starts with).

/** The steps in order. Each step is a page of the guide with some of the settings. */
export const GUIDE_STEPS = ["name", "portrait", "texts", "trustedBy", "links", "works"] as const;
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

/** The names of texts in both languages, given their keys: "about.title" has the name "site.texts.en.about.title" in English. */
const inBothLanguages = (...keys: SiteTextKey[]) =>
  (["en", "pt"] satisfies Language[]).flatMap((language) =>
    keys.map((key) => `site.texts.${language}.${key}`),
  );

/**
 * The settings of each step. The names are those that the server uses in `seed`, the list of settings that the owner has not
 * changed yet. The portrait's alternative text (what it shows, in words) is not listed, because its first value fits every portrait.
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

/** The state of a step. */
export type StepState =
  /** At least one of the step's settings still has the value that a new site starts with. */
  | "seed"
  /** The owner has removed the initial value and set no other value. */
  | "empty"
  /** The owner has set a value. */
  | "own";

/** Returns the state of a step. `workCount` is the number of works, if it is known. */
export function stateOf(
  step: GuideStep,
  { seed, settings }: SettingsResponse,
  workCount?: number,
): StepState {
  const { portrait, instagram, facebook, whatsapp, email } = settings.site;
  const emptySteps: Partial<Record<GuideStep, boolean>> = {
    portrait: !portrait,
    links: !(instagram || facebook || whatsapp || email),
    works: workCount === 0,
  };
  if (STEP_SETTINGS[step].some((name) => seed.includes(name))) return "seed";
  return emptySteps[step] ? "empty" : "own";
}

/** The steps in the state "seed". */
export const stepsWithSeed = (settings: SettingsResponse): GuideStep[] =>
  GUIDE_STEPS.filter((step) => stateOf(step, settings) === "seed");
