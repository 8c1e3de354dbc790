import { useBoot } from "@/lib/boot";
import { ptDate } from "@/lib/dates";
import { useT } from "@/lib/i18n";
import type { Key } from "@/lib/texts";
import { usePageTitle } from "@/lib/use-page-title";

const sections: readonly { title: Key; body: Key }[] = [
  { title: "privacy.information.title", body: "privacy.information.body" },
  { title: "privacy.use.title", body: "privacy.use.body" },
  { title: "privacy.sharing.title", body: "privacy.sharing.body" },
  { title: "privacy.security.title", body: "privacy.security.body" },
  { title: "privacy.cookies.title", body: "privacy.cookies.body" },
  { title: "privacy.rights.title", body: "privacy.rights.body" },
  { title: "privacy.contact.title", body: "privacy.contact.body" },
  { title: "privacy.changes.title", body: "privacy.changes.body" },
];

/** Portuguese in both languages, hence its own lang. */
export function PrivacyPage() {
  const t = useT();
  const { today, site } = useBoot();
  usePageTitle(t("privacy.title"));
  return (
    <article lang="pt" className="wrap pt-[clamp(2.5rem,1rem+5vw,5.5rem)] pb-section">
      <h1 className="text-h1">{t("privacy.title")}</h1>
      <p className="text-ink2 mt-5">{t("privacy.updated", { date: ptDate(today) })}</p>
      <p className="text-ink2">{t("privacy.since", { date: ptDate(site.privacySince) })}</p>
      <ol className="border-ink mt-12 max-w-[56rem] border-t-2">
        {sections.map(({ title, body }, index) => (
          <li
            key={title}
            className="border-line grid grid-cols-[3rem_1fr] items-baseline gap-x-4 border-b py-7 sm:grid-cols-[5.5rem_1fr]"
          >
            <span
              aria-hidden="true"
              className="osf text-anil text-[2.25rem] leading-none font-[300]"
            >
              {index + 1}
            </span>
            <div>
              <h2 className="text-[1.5rem] leading-tight font-[430]">{t(title)}</h2>
              <p className="mt-2 max-w-[65ch]">{t(body)}</p>
            </div>
          </li>
        ))}
      </ol>
    </article>
  );
}
