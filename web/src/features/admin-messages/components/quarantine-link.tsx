import { useQuarantine } from "@/features/admin-messages/api/quarantine";
import { BoxLink } from "@/features/admin-messages/components/box-link";
import { useT } from "@/lib/i18n";

/** The link from the inbox to the quarantine (messages that look like spam or are from a flood), with the number of its messages. */
export function QuarantineLink() {
  const t = useT();
  const { data } = useQuarantine(1); // only the number is used, and each page has it
  return (
    <BoxLink box="quarantine">
      {data?.total ? t("messages.quarantineCount", { n: data.total }) : t("messages.quarantine")}
    </BoxLink>
  );
}
