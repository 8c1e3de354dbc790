import type { PrivacyTexts } from "@/lib/boot";

/** The name of a section of the privacy page. */
export type PrivacySection = keyof PrivacyTexts;

/** The eight sections of the privacy page, in its order. */
export const PRIVACY_SECTIONS: readonly PrivacySection[] = [
  "information",
  "use",
  "sharing",
  "security",
  "cookies",
  "rights",
  "contact",
  "changes",
];
