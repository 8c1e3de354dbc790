import { Alert } from "@/components/ui/alert";
import { useSiteHealth } from "@/features/admin-dashboard/api/health";
import { useLanguage, useT, type Translate } from "@/lib/i18n";
import type { Language } from "@/lib/boot";
import { dateTime, localDay } from "@/lib/owner-dates";
import { longDate } from "@/lib/dates";
import type { SiteHealth, Problem } from "@/lib/types";

/** A problem that HealthProblems lists. A full or nearly full disk is not listed, because DiskNotice shows it. */
type ListedProblem = Problem & { code: Exclude<Problem["code"], "disk_low"> };

const isListed = (problem: Problem): problem is ListedProblem => problem.code !== "disk_low";

/** Lists the problems of the site on the overview of the admin area. Each text says what is wrong and what the owner can do. */
export function HealthProblems() {
  const t = useT();
  const { language } = useLanguage();
  const { data } = useSiteHealth();
  const problems = data?.problems.filter(isListed) ?? [];
  if (!data || problems.length === 0) return null;
  return (
    <Alert title={t("health.wrong")} className="mb-8 max-w-[48rem]">
      <ul className="mt-1 space-y-2">
        {problems.map((problem) => (
          <li key={problem.code}>
            {problemText(problem, data, t, language)}
            {/* For a certificate, `cause` is only the domain, and problemText already names the domain. */}
            {problem.cause && !problem.code.startsWith("certificate") && (
              <span className="text-ink2 block text-sm wrap-anywhere">
                {t("health.cause", { cause: problem.cause })}
              </span>
            )}
          </li>
        ))}
      </ul>
    </Alert>
  );
}

/** The sentence that says what is wrong. */
function problemText(
  { code, since, cause }: ListedProblem,
  { certificate }: SiteHealth,
  t: Translate,
  language: Language,
): string {
  const ends = certificate?.ends_at;
  const vars = {
    since: since ? dateTime(since, language) : "",
    domain: cause, // for a problem with the certificate, `cause` is the domain
    ends: ends ? longDate(localDay(ends), language) : "",
  };
  // There has been no backup at all, or no restore test (a trial restore of the newest backup).
  if (!since && (code === "backup_stale" || code === "proof_stale")) {
    return t(`health.never.${code}`);
  }
  return t(`health.problem.${code}`, vars);
}
