import type { Translate } from "@/lib/i18n";
import type { Device } from "@/lib/types";

/** A device in words, such as "Firefox, Linux". */
export const deviceText = (t: Translate, { browser, system, program }: Device): string =>
  [browser, system].filter(Boolean).join(", ") ||
  program?.slice(0, 60) ||
  t("account.sessions.unknown");
