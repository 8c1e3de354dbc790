import { useSearchParams } from "react-router";
import { useQuarantine } from "@/features/admin-messages/api/quarantine";
import { buttonClasses } from "@/components/ui/button-classes";
import { Link } from "@/components/ui/link";
import { useT } from "@/lib/i18n";

/** The link from the inbox to the quarantine, with the number of quarantined messages. */
export function QuarantineLink() {
  const t = useT();
  const [search] = useSearchParams();
  const { data } = useQuarantine(1);
  const next = new URLSearchParams({ box: "quarantine" });
  const language = search.get("lang");
  if (language) next.set("lang", language);
  return (
    <Link
      to={{ search: next.toString() }}
      className={buttonClasses({ variant: "outline", size: "sm", className: "self-start" })}
    >
      {data?.total ? t("messages.quarantineCount", { n: data.total }) : t("messages.quarantine")}
    </Link>
  );
}
