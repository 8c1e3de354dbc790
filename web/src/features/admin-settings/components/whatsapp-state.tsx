import { ExternalLink } from "lucide-react";
import { numberOf } from "@/features/admin-settings/whatsapp";
import { useT } from "@/lib/i18n";
import { whatsappUrl } from "@/lib/site-links";

type WhatsAppStateProps = { given: string; country: string; stored: string };

/** Below the WhatsApp number: a link to test it, or a warning that the stored number is incomplete and gets no link. */
export function WhatsAppState({ given, country, stored }: WhatsAppStateProps) {
  const t = useT();
  const url = whatsappUrl({ whatsapp: numberOf(given, country) ?? given });
  if (!url) {
    if (given === "" || given !== stored) return null;
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
