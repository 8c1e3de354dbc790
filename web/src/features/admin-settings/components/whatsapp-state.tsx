import { ExternalLink } from "lucide-react";
import { toE164 } from "@/features/admin-settings/whatsapp";
import { useT } from "@/lib/i18n";
import { whatsappUrl } from "@/lib/site-links";

type WhatsAppStateProps = {
  /** The number or URL in the input. */
  value: string;
  /** The chosen country as an ISO 3166 code; "" if none is chosen. */
  country: string;
  /** The stored number or URL; "" if there is none. */
  stored: string;
};

/**
 * Shows below the WhatsApp input a link with which the owner can test the number. If the number is incomplete, there is no link. If
 * an incomplete number is the stored one, shows a warning, because the public pages then have no WhatsApp link.
 */
export function WhatsAppState({ value, country, stored }: WhatsAppStateProps) {
  const t = useT();
  const url = whatsappUrl({ whatsapp: toE164(value, country) ?? value });
  if (!url) {
    if (value === "" || value !== stored) return null;
    return <p className="text-danger mt-2 text-sm">{t("settings.whatsappUnlinked")}</p>;
  }
  return (
    <a
      href={url}
      target="_blank"
      rel="noreferrer"
      className="text-indigo mt-1 inline-flex min-h-11 items-center gap-2 text-sm underline underline-offset-4"
    >
      {t("settings.whatsappTest", { url: url.replace("https://", "") })}
      <ExternalLink aria-hidden="true" size={16} strokeWidth={1.75} className="flex-none" />
    </a>
  );
}
