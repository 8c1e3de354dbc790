import { useSearchParams } from "react-router";
import { useQuarantine } from "@/features/admin-messages/api/quarantine";
import { Notice } from "@/components/ui/notice";
import { TextLink } from "@/components/ui/text-link";
import { useT } from "@/lib/i18n";

/**
 * Tells the owner in the inbox how many messages are in quarantine because of a flood (too many messages in an hour), with a link to
 * the quarantine. Renders nothing if there is no such message.
 */
export function FloodNotice() {
  const t = useT();
  const [search] = useSearchParams();
  const { data } = useQuarantine(1); // only the number is used, and each page has it
  if (!data?.flood) return null;
  const params = new URLSearchParams({ box: "quarantine" });
  // Keeps the language of the current URL.
  const language = search.get("lang");
  if (language) params.set("lang", language);
  return (
    <Notice title={t("messages.flood", { n: data.flood })} className="mb-8">
      <TextLink to={{ search: params.toString() }}>{t("messages.floodLook")}</TextLink>
    </Notice>
  );
}
