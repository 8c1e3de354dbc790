import { useEffect, useId, useRef, useState, useSyncExternalStore } from "react";
import { LogOut, Menu, X } from "lucide-react";
import { flushSync } from "react-dom";
import { useLocation } from "react-router";
import { LanguageToggle } from "@/components/layout/language-toggle";
import { Mark } from "@/components/layout/mark";
import { navItemClasses } from "@/components/layout/nav-item";
import { adminLinks } from "@/components/layout/nav-links";
import {
  NoscriptActions,
  NoscriptPanel,
  NoscriptSections,
} from "@/components/layout/noscript-menu";
import { PhonePanel } from "@/components/layout/phone-panel";
import { Submenu } from "@/components/layout/submenu";
import { usePageLock } from "@/components/layout/use-page-lock";
import { useSectionScroll } from "@/components/layout/use-section-scroll";
import { useSectionLinks } from "@/components/layout/use-section-links";
import { Button } from "@/components/ui/button";
import { IconButton } from "@/components/ui/icon-button";
import { useAuth } from "@/lib/auth";
import { HEADER_SOLID_AFTER_PX } from "@/lib/constants";
import { useGalleryLinks } from "@/lib/gallery-links";
import { useT } from "@/lib/i18n";
import { confirmLeave } from "@/lib/leave-guard";
import { cn } from "@/lib/cn";

// The three arguments of useSyncExternalStore by which the header knows whether the page is scrolled.
function subscribeToScroll(notify: () => void) {
  window.addEventListener("scroll", notify, { passive: true });
  return () => window.removeEventListener("scroll", notify);
}
const isScrolled = () => window.scrollY > HEADER_SOLID_AFTER_PX;
const isScrolledOnServer = () => false;

/**
 * The header of every page. Over a hero (the first section of the home page) it is transparent until the page is scrolled or
 * the menu opens. The style sheet finds the hero by its attribute data-hero, so that the header is transparent in the
 * server's HTML, before any script runs.
 */
export function Header() {
  const t = useT();
  const { session, role, signOut } = useAuth();
  const { pathname } = useLocation();
  const scrolled = useSyncExternalStore(subscribeToScroll, isScrolled, isScrolledOnServer);
  // The path at which the menu was opened; "" while it is closed. After Back the menu of another page is not open.
  const [menuPath, setMenuPath] = useState("");
  const menuOpen = menuPath === pathname;
  if (menuPath && !menuOpen) setMenuPath("");
  // The header element, which also contains the menu panel.
  const root = useRef<HTMLElement>(null);
  const menuButton = useRef<HTMLButtonElement>(null);
  const panelId = useId();
  const goToSection = useSectionScroll();
  const sections = useSectionLinks();
  const isAdmin = role === "admin";

  const closeMenu = () => setMenuPath("");
  /** Closes the menu, and moves the focus from the removed panel to the button. */
  function leaveMenu() {
    closeMenu();
    menuButton.current?.focus();
  }
  // While the menu is open, the page behind it cannot be scrolled or focused, and Escape closes the menu.
  usePageLock(menuOpen, root, leaveMenu);

  // Closes the menu panel when the window becomes wide. Wide windows do not show the panel, but it would still lock the page.
  useEffect(() => {
    const wide = window.matchMedia("(min-width: 64rem)");
    const onChange = () => wide.matches && setMenuPath("");
    wide.addEventListener("change", onChange);
    return () => wide.removeEventListener("change", onChange);
  }, []);

  function goTo(id: string) {
    // Closes the menu synchronously: while it is open, the sections are inert and cannot receive the focus.
    flushSync(closeMenu);
    goToSection(id);
  }
  function confirmSignOut() {
    leaveMenu();
    confirmLeave(() => void signOut());
  }

  return (
    <header
      ref={root}
      data-solid={scrolled || menuOpen || undefined}
      className="site-header text-ink bg-page border-line over-hero:border-transparent over-hero:bg-transparent over-hero:text-white fixed inset-x-0 top-0 z-40 border-b transition-[background-color,border-color,color] duration-200"
    >
      <div aria-hidden="true" className="header-scrim over-hero:opacity-100 opacity-0" />
      <div className="page-container flex h-[64px] items-center justify-between gap-3 lg:h-[76px] lg:gap-6">
        <Mark onNavigate={closeMenu} />

        <div className="hidden flex-none items-center gap-[clamp(12px,4.6vw-35px,30px)] lg:flex">
          <nav
            aria-label={t("nav.main")}
            className="flex items-center gap-[clamp(12px,4.6vw-35px,30px)]"
          >
            <Submenu
              label={t("nav.gallery")}
              to="/gallery/all"
              toggleLabel={t("nav.galleryTypes")}
              items={useGalleryLinks()}
              current={/^\/gallery(\/[^/]*)?\/?$/.test(pathname)}
            />
            {sections.map(({ key, id }) => (
              <button
                key={id}
                type="button"
                onClick={() => goTo(id)}
                className={navItemClasses(false)}
              >
                {t(key)}
              </button>
            ))}
            <noscript data-plain="">{import.meta.env.SSR && <NoscriptSections />}</noscript>
            {isAdmin && (
              <Submenu
                label={t("nav.dashboard")}
                to="/admin"
                toggleLabel={t("nav.dashboardPages")}
                items={adminLinks.map(({ key, to }) => ({ label: t(key), to }))}
                current={pathname === "/admin" || pathname.startsWith("/admin/")}
              />
            )}
          </nav>
          <LanguageToggle className={isAdmin ? "xl:mr-[5px] xl:ml-[13px]" : "mr-[5px] ml-[13px]"} />
          {session && (
            <button
              type="button"
              onClick={confirmSignOut}
              className={cn(navItemClasses(false), isAdmin && "max-xl:hidden")}
            >
              {t("nav.signOut")}
            </button>
          )}
          {session && isAdmin && (
            <IconButton
              label={t("nav.signOut")}
              variant="ghost"
              size="iconSm"
              className="over-hero:text-white -mx-3 xl:hidden"
              onClick={confirmSignOut}
            >
              <LogOut aria-hidden="true" size={20} strokeWidth={1.75} />
            </IconButton>
          )}
          <noscript>{import.meta.env.SSR && <NoscriptActions />}</noscript>
          <Button size="sm" className="lets-talk px-[19px]" onClick={() => goTo("contact")}>
            {t("nav.letsTalk")}
          </Button>
        </div>

        <noscript className="lg:hidden">{import.meta.env.SSR && <NoscriptPanel />}</noscript>
        <button
          ref={menuButton}
          type="button"
          aria-expanded={menuOpen}
          aria-controls={menuOpen ? panelId : undefined}
          onClick={() => setMenuPath(menuOpen ? "" : pathname)}
          className="label-text -mr-1 flex min-h-11 flex-none items-center gap-[9px] rounded-sm px-2 lg:hidden"
        >
          {menuOpen ? t("nav.close") : t("nav.menu")}
          {menuOpen ? (
            <X aria-hidden="true" size={20} strokeWidth={1.75} />
          ) : (
            <Menu aria-hidden="true" size={20} strokeWidth={1.75} />
          )}
        </button>
      </div>
      {menuOpen && (
        <PhonePanel
          id={panelId}
          onNavigate={leaveMenu}
          onSection={goTo}
          onSignOut={confirmSignOut}
        />
      )}
    </header>
  );
}
