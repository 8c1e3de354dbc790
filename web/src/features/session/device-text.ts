import type { Translate } from "@/lib/i18n";
import type { Device } from "@/lib/types";

/**
 * A device (browser and system) in words, such as "Firefox, Linux". For an unknown program it is the beginning of the User-Agent
 * header, which is in `program`.
 */
export const deviceText = (t: Translate, { browser, system, program }: Device): string =>
  [browser, system].filter(Boolean).join(", ") ||
  program?.slice(0, 60) ||
  t("account.sessions.unknown");
