import { ArrowRight, LogOut } from "lucide-react";
import { Link } from "@/components/ui/link";
import { LanguageToggle } from "@/components/layout/language-toggle";
import { phoneAdminLinks, phoneSiteLinks } from "@/components/layout/nav-links";
import { useSectionLinks } from "@/components/layout/use-section-links";
import { Button } from "@/components/ui/button";
import { useAuth } from "@/lib/auth";
import { useT } from "@/lib/i18n";

type PhonePanelProps = {
  /** The id of the panel. The header's menu button refers to it. */
  id: string;
  /** Called when a link is followed. */
  onNavigate(): void;
  /** Called with the id of the section of the home page to scroll to. */
  onSection(id: string): void;
  onSignOut(): void;
};

/** The classes of the links to the gallery and to the sections. */
const rowClasses =
  "border-line flex min-h-[60px] w-full items-center justify-between border-b text-left text-[1.875rem] leading-tight font-[310]";

/** The panel with the menu on small screens. While the panel is open, the focus cannot leave the header and the panel. */
export function PhonePanel({ id, onNavigate, onSection, onSignOut }: PhonePanelProps) {
  const t = useT();
  const { session, role } = useAuth();
  const sections = useSectionLinks();
  return (
    <div
      id={id}
      className="bg-page text-ink animate-panel-in fixed inset-x-0 top-[65px] bottom-0 flex flex-col overflow-y-auto overscroll-contain lg:hidden"
    >
      <nav aria-label={t("nav.main")} className="page-container flex-1 pt-[calc(0.5rem-1px)] pb-10">
        <ul>
          <li>
            <Link to="/gallery/all" onClick={onNavigate} className={rowClasses}>
              {t("nav.gallery")}
              <ArrowRight aria-hidden="true" size={20} strokeWidth={1.75} />
            </Link>
          </li>
          {sections.map((link) => (
            <li key={link.id}>
              <button type="button" onClick={() => onSection(link.id)} className={rowClasses}>
                {t(link.key)}
              </button>
            </li>
          ))}
        </ul>
        {role === "admin" && (
          <>
            <p className="text-ink2 mt-[22px] mb-1 text-sm font-[520]" id={`${id}-admin`}>
              {t("nav.dashboard")}
            </p>
            <ul aria-labelledby={`${id}-admin`}>
              {phoneAdminLinks.map((link) => (
                <li key={link.to}>
                  <Link
                    to={link.to}
                    onClick={onNavigate}
                    className="border-line flex min-h-[50px] items-center border-b"
                  >
                    {t(link.key)}
                  </Link>
                </li>
              ))}
            </ul>
            <ul aria-label={t("nav.site")} className="flex gap-6">
              {phoneSiteLinks.map((link) => (
                <li key={link.to} className="flex-1">
                  <Link
                    to={link.to}
                    onClick={onNavigate}
                    className="border-line flex min-h-[50px] items-center border-b"
                  >
                    {t(link.key)}
                  </Link>
                </li>
              ))}
            </ul>
          </>
        )}
      </nav>
      <div className="band page-container flex min-h-[88px] flex-none items-center justify-between py-5">
        <LanguageToggle className="px-2" />
        {session && (
          <Button variant="white" size="sm" onClick={onSignOut} lang="pt">
            <LogOut aria-hidden="true" size={20} strokeWidth={1.75} />
            {t("nav.signOutMobile")}
          </Button>
        )}
      </div>
    </div>
  );
}
