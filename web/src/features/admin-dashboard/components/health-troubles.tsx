import { Alert } from "@/components/ui/alert";
import { useSiteHealth } from "@/features/admin-dashboard/api/health";
import { useLanguage, useT, type Translate } from "@/lib/i18n";
import type { Language } from "@/lib/boot";
import { dateTime, localDay } from "@/lib/owner-dates";
import { longDate } from "@/lib/dates";
import type { SiteHealth, Trouble } from "@/lib/types";

/** A problem that HealthTroubles lists. A full or nearly full disk is not listed, because DiskNotice shows it. */
type ListedTrouble = Trouble & { code: Exclude<Trouble["code"], "disk_low"> };

const isListed = (trouble: Trouble): trouble is ListedTrouble => trouble.code !== "disk_low";

/** Lists the problems with the site: what is wrong, and what the owner can do about it. */
export function HealthTroubles() {
  const t = useT();
  const { language } = useLanguage();
  const { data } = useSiteHealth();
  const troubles = data?.troubles.filter(isListed) ?? [];
  if (!data || troubles.length === 0) return null;
  return (
    <Alert title={t("health.wrong")} className="mb-8 max-w-[48rem]">
      <ul className="mt-1 space-y-2">
        {troubles.map((trouble) => (
          <li key={trouble.code}>
            {troubleText(trouble, data, t, language)}
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

/** The sentence that says what is wrong. */
function troubleText(
  { code, since, cause }: ListedTrouble,
  { certificate }: SiteHealth,
  t: Translate,
  language: Language,
): string {
  const ends = certificate?.ends_at;
  const vars = {
    since: since ? dateTime(since, language) : "",
    domain: cause, // the cause of a problem with the certificate is the domain
    ends: ends ? longDate(localDay(ends), language) : "",
  };
  // There has been no backup or no proof at all.
  if (!since && (code === "backup_stale" || code === "proof_stale")) {
    return t(`health.never.${code}`);
  }
  return t(`health.trouble.${code}`, vars);
}
