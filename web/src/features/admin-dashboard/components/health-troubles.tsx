import { Alert } from "@/components/ui/alert";
import { useSiteHealth } from "@/features/admin-dashboard/api/health";
import { useLanguage, useT, type Translate } from "@/lib/i18n";
import type { Language } from "@/lib/boot";
import { dateTime, localDay } from "@/lib/owner-dates";
import { longDate } from "@/lib/dates";
import type { SiteHealth, Trouble } from "@/lib/types";

type Said = Trouble & { code: Exclude<Trouble["code"], "disk_low"> };

const isSaid = (trouble: Trouble): trouble is Said => trouble.code !== "disk_low";

/** Says what is wrong with the site, and the way out. A full disk is left out: DiskNotice says it. */
export function HealthTroubles() {
  const t = useT();
  const { language } = useLanguage();
  const { data } = useSiteHealth();
  const troubles = data?.troubles.filter(isSaid) ?? [];
  if (!data || troubles.length === 0) return null;
  return (
    <Alert title={t("health.wrong")} className="mb-8 max-w-[48rem]">
      <ul className="mt-1 space-y-2">
        {troubles.map((trouble) => (
          <li key={trouble.code}>
            {sentence(trouble, data, t, language)}
            {trouble.cause && !trouble.code.startsWith("certificate") && (
              <span className="text-ink2 block text-sm wrap-anywhere">
                {t("health.cause", { cause: trouble.cause })}
              </span>
            )}
          </li>
        ))}
      </ul>
    </Alert>
  );
}

function sentence(
  { code, since, cause }: Said,
  { certificate }: SiteHealth,
  t: Translate,
  language: Language,
): string {
  const ends = certificate?.ends_at;
  const vars = {
    since: since ? dateTime(since, language) : "",
    domain: cause,
    ends: ends ? longDate(localDay(ends), language) : "",
  };
  if (!since && (code === "backup_stale" || code === "proof_stale")) {
    return t(`health.never.${code}`);
  }
  return t(`health.trouble.${code}`, vars);
}
