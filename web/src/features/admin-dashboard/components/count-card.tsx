import type { UseQueryResult } from "@tanstack/react-query";
import { ArrowRight } from "lucide-react";
import { Badge } from "@/components/ui/badge";
import { Link } from "@/components/ui/link";
import { Skeleton } from "@/components/ui/skeleton";
import { useT } from "@/lib/i18n";

type CountCardProps = {
  /** The URL of the page to which the card links. */
  to: string;
  label: string;
  /** The query for the number that the card shows. */
  countQuery: Pick<UseQueryResult<number>, "data" | "isError">;
  /** The text of a badge, such as the number of unread messages. Without it there is no badge. */
  badge?: string;
};

/**
 * A card on the overview of the admin area. It shows how many works, covers, reviews or messages there are, and links to their
 * page.
 */
export function CountCard({ to, label, countQuery, badge }: CountCardProps) {
  return (
    <li className="flex">
      <Link
        to={to}
        className="group bg-shade hover:bg-indigo-tint border-band flex min-h-[194px] w-full flex-col justify-between gap-4 rounded-sm border-b-8 p-4 transition-colors duration-200 md:min-h-[280px] md:p-[26px]"
      >
        {/* The space separates number and label in the accessible name. */}
        <Count {...countQuery} />{" "}
        {badge && (
          <span>
            <Badge tone="ochre">{badge}</Badge>
          </span>
        )}{" "}
        <span className="label-text flex items-center justify-between gap-2 font-[520]">
          {label}
          <ArrowRight
            aria-hidden="true"
            size={22}
            strokeWidth={1.5}
            className="hidden flex-none sm:block"
          />
        </span>
      </Link>
    </li>
  );
}

/** The number; a placeholder while it loads, or an error text if it could not be loaded. */
function Count({ data, isError }: CountCardProps["countQuery"]) {
  const t = useT();
  const figureClassName =
    "oldstyle block text-[4rem] leading-[1.15] font-[230] md:text-[6.5rem] md:leading-[.95]";
  // A known count stays visible if fetching it again fails.
  if (data !== undefined) return <span className={figureClassName}>{data}</span>;
  if (isError) {
    return (
      <span>
        <span aria-hidden="true" className={figureClassName}>
          –
        </span>
        <span className="text-ink2 block text-sm">{t("admin.countError")}</span>
      </span>
    );
  }
  return (
    <span className="block pt-4 md:pt-6">
      <Skeleton className="h-12 w-[4.5rem] md:h-[4.25rem] md:w-[7.5rem]" />
      <span className="sr-only">{t("common.loading")}</span>
    </span>
  );
}
