import { Link } from "@/components/ui/link";
import { buttonLooks } from "@/components/ui/button-looks";
import { navItem } from "@/components/layout/nav-item";
import { galleryTargets, sectionTargets } from "@/components/layout/nav-targets";
import { useBoot } from "@/lib/boot";
import { LANGUAGES } from "@/lib/constants";
import { addressIn, useAddress, useLanguage, useT } from "@/lib/i18n";

// For browsers without scripts: what the bar's buttons do, as links. Only ever drawn on the server, inside noscript,
// which React leaves alone in the browser; index.html hides the buttons.

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
    <a href={useAddress(`/#${id}`)} className={className}>
      {children}
    </a>
  );
}

/** The same page in the other language: an address that is a query alone keeps the path. */
function PlainLanguage({ className }: { className?: string }) {
  const t = useT();
  const { language } = useLanguage();
  const { art } = useBoot();
  const other = LANGUAGES.find((one) => one !== language)!;
  return (
    <a
      href={addressIn(other, art ? `?art=${art}` : "?")}
      hrefLang={other}
      lang={other}
      className={className}
    >
      {t("nav.switchLanguage")}
    </a>
  );
}

export function PlainSections() {
  const t = useT();
  return sectionTargets.map(({ key, id }) => (
    <SectionLink key={id} id={id} className={navItem(false)}>
      {t(key)}
    </SectionLink>
  ));
}

export function PlainActions() {
  const t = useT();
  return (
    <>
      <PlainLanguage className={navItem(false)} />
      <SectionLink
        id="contact"
        className={buttonLooks({ size: "sm", className: "lets-talk ml-6 px-[19px]" })}
      >
        {t("nav.letsTalk")}
      </SectionLink>
    </>
  );
}

const row = "border-line flex min-h-[52px] items-center border-b text-xl leading-tight";

/** The panel of small screens, opened by the browser itself. */
export function PlainPanel() {
  const t = useT();
  return (
    <details className="lg:hidden">
      <summary className="label-text flex min-h-11 items-center rounded-sm px-2">
        {t("nav.menu")}
      </summary>
      <nav
        aria-label={t("nav.main")}
        className="bg-cal text-ink wrap fixed inset-x-0 top-[65px] max-h-[calc(100svh-65px)] overflow-y-auto pb-8"
      >
        {galleryTargets.map(({ key, to }) => (
          <Link key={to} to={to} className={row}>
            {t(key)}
          </Link>
        ))}
        {sectionTargets.map(({ key, id }) => (
          <SectionLink key={id} id={id} className={row}>
            {t(key)}
          </SectionLink>
        ))}
        <PlainLanguage className={row} />
      </nav>
    </details>
  );
}
