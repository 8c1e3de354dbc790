import { Link } from "@/components/ui/link";
import { buttonClasses } from "@/components/ui/button-classes";
import { navItemClasses } from "@/components/layout/nav-item";
import { useSectionLinks } from "@/components/layout/use-section-links";
import { useBoot } from "@/lib/boot";
import { useGalleryLinks } from "@/lib/gallery-links";
import { localizedUrl, otherLanguage, useLanguage, useLocalizedUrl, useT } from "@/lib/i18n";

// The header's links for browsers without scripts. They replace the header's buttons, which index.html hides. They are
// rendered only on the server, inside noscript elements, because React does not hydrate the content of noscript.

/** A link to a section of the home page. */
function SectionLink({
  id,
  className,
  children,
}: {
  id: string;
  className: string;
  children: string;
}) {
  return (
    <a href={useLocalizedUrl(`/#${id}`)} className={className}>
      {children}
    </a>
  );
}

/** A link to the same page in the other language. Its URL is only a query string, so that the path stays. */
function NoscriptLanguage({ className }: { className?: string }) {
  const t = useT();
  const { art, series, reviewsPage } = useBoot();
  const other = otherLanguage(useLanguage().language);
  // What the page shows: the series, the open work, or the page of reviews. URLSearchParams is not used here, because the server's
  // implementation (polyfill.ts) takes no parameters.
  const query = [
    series && `series=${series}`,
    art && `art=${art}`,
    reviewsPage && `reviews=${reviewsPage}`,
  ].filter(Boolean);
  return (
    <a
      // A "?" alone removes the query string of the current URL.
      href={localizedUrl(other, `?${query.join("&")}`)}
      hrefLang={other}
      lang={other}
      className={className}
    >
      {t("nav.switchLanguage")}
    </a>
  );
}

/** The links to the sections of the home page, for wide windows. */
export function NoscriptSections() {
  const t = useT();
  return useSectionLinks().map(({ key, id }) => (
    // false: a section is never the current page.
    <SectionLink key={id} id={id} className={navItemClasses(false)}>
      {t(key)}
    </SectionLink>
  ));
}

/** The language link and the contact link, for wide windows. */
export function NoscriptActions() {
  const t = useT();
  return (
    <>
      <NoscriptLanguage className={navItemClasses(false)} />
      <SectionLink
        id="contact"
        className={buttonClasses({ size: "sm", className: "lets-talk ml-6 px-[19px]" })}
      >
        {t("nav.letsTalk")}
      </SectionLink>
    </>
  );
}

const rowClasses = "border-line flex min-h-[52px] items-center border-b text-xl leading-tight";

/** The menu of small screens as a details element. */
export function NoscriptPanel() {
  const t = useT();
  const sections = useSectionLinks();
  return (
    <details className="lg:hidden">
      <summary className="label-text flex min-h-11 items-center rounded-sm px-2">
        {t("nav.menu")}
      </summary>
      <nav
        aria-label={t("nav.main")}
        className="bg-page text-ink page-container fixed inset-x-0 top-[65px] max-h-[calc(100svh-65px)] overflow-y-auto pb-8"
      >
        {useGalleryLinks().map(({ label, to }) => (
          <Link key={to} to={to} className={rowClasses}>
            {label}
          </Link>
        ))}
        {sections.map(({ key, id }) => (
          <SectionLink key={id} id={id} className={rowClasses}>
            {t(key)}
          </SectionLink>
        ))}
        <NoscriptLanguage className={rowClasses} />
      </nav>
    </details>
  );
}
