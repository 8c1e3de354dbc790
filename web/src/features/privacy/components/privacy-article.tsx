import { useBoot } from "@/lib/boot";
import { ptDate } from "@/lib/owner-dates";
import { useT } from "@/lib/i18n";
import { PRIVACY_SECTIONS } from "@/lib/privacy-sections";

/**
 * The text of the privacy page. It is Portuguese in both languages of the site (docs/product.md, rule 20). The date of the last
 * update is always today (docs/product.md, rule 21).
 */
export function PrivacyArticle() {
  const t = useT();
  const { today, site, backupDays } = useBoot();
  return (
    <article lang="pt" className="page-container pt-[clamp(2.5rem,1rem+5vw,5.5rem)] pb-section">
      <h1 className="text-h1">{t("privacy.title")}</h1>
      <p className="text-ink2 mt-5">{t("privacy.updated", { date: ptDate(today) })}</p>
      <p className="text-ink2">{t("privacy.since", { date: ptDate(site.privacySince) })}</p>
      <ol className="border-ink mt-12 max-w-[56rem] border-t-2">
        {PRIVACY_SECTIONS.map((section, index) => (
          <li
            key={section}
            className="border-line grid grid-cols-[3rem_1fr] items-baseline gap-x-4 border-b py-7 sm:grid-cols-[5.5rem_1fr]"
          >
            <span
              aria-hidden="true"
              className="oldstyle text-indigo text-[2.25rem] leading-none font-[300]"
            >
              {index + 1}
            </span>
            <div>
              <h2 className="text-[1.5rem] leading-tight font-[430]">
                {t(`privacy.${section}.title`)}
              </h2>
              <p className="mt-2 max-w-[65ch] whitespace-pre-line">
                {site.privacy?.[section] || t(`privacy.${section}.body`)}
              </p>
              {section === "use" && site.messageMonths ? (
                <p className="mt-2 max-w-[65ch]">{t("privacy.kept", { n: site.messageMonths })}</p>
              ) : null}
              {section === "use" && backupDays ? (
                <p className="mt-2 max-w-[65ch]">{t("privacy.backups", { n: backupDays })}</p>
              ) : null}
            </div>
          </li>
        ))}
      </ol>
    </article>
  );
}
