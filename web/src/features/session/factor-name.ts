import type { SecondFactor } from "@/lib/auth";
import type { Translate } from "@/lib/i18n";

/** The number of digits of a phone number that are shown. */
const SHOWN_DIGITS = 3;

/** The last digits of a factor's phone number. They are enough to recognize the phone. */
export const phoneEnd = ({ phone }: SecondFactor): string => phone.slice(-SHOWN_DIGITS);

/** The name of a second factor for lists: the app's name, or the end of the phone number. */
export function factorName(t: Translate, factor: SecondFactor): string {
  if (factor.type === "phone") return t("auth.factor.phoneOption", { end: phoneEnd(factor) });
  const { name } = factor;
  return name ? t("auth.factor.appNamed", { name }) : t("auth.factor.appOption");
}
