import { phaseOf } from "@/features/admin-covers/schedule";
import { Badge } from "@/components/ui/badge";
import { useLanguage, useT } from "@/lib/i18n";
import { clockTime, localDay, shortDate } from "@/lib/owner-dates";
import type { CoverImage } from "@/lib/types";

/**
 * Shows whether visitors see a cover now: its phase (scheduled, current or ended) and the time at which the phase changes or has
 * changed. For a current cover without an end it shows nothing.
 */
export function PhaseBadge({ cover }: { cover: CoverImage }) {
  const t = useT();
  const { language } = useLanguage();
  const phase = phaseOf(cover);
  const at = phase === "scheduled" ? cover.visible_from : cover.visible_until;
  if (!at) return null;
  const when = `${shortDate(localDay(at), language)}, ${clockTime(at)}`;
  return (
    <p className="flex flex-wrap items-center gap-x-2 gap-y-1 pt-2">
      {phase !== "current" && (
        <Badge tone={phase === "ended" ? "neutral" : "outline"}>{t(`covers.${phase}`)}</Badge>
      )}
      <span className="text-ink2 text-sm">
        {t(phase === "scheduled" ? "covers.fromTime" : "covers.untilTime", { when })}
      </span>
    </p>
  );
}
