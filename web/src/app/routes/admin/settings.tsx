import { Footer } from "@/components/layout/footer";
import { AboutSection } from "@/features/about/components/about-section";
import { GuidePage } from "@/features/admin-settings/components/guide-page";
import { SettingsPage } from "@/features/admin-settings/components/settings-page";
import { Commissions } from "@/features/contact/components/commissions";
import { ContactLinks } from "@/features/contact/components/contact-links";
import { PrivacyArticle } from "@/features/privacy/components/privacy-article";
import { BootProvider, useBoot, type Language, type SiteTexts } from "@/lib/boot";
import { LanguageScope, useT } from "@/lib/i18n";
import { useSiteText } from "@/lib/site-text";

/**
 * The route /admin/settings. The preview of the public site is passed in, because features must not import each other's
 * components.
 */
export function SettingsRoute() {
  return <SettingsPage preview={SitePreview} />;
}

/**
 * The route /admin/guide, the first-run guide. It is in this module because it uses the form fields of the settings page, so that one
 * chunk (a file of code that loads on demand) has both pages.
 */
export function GuideRoute() {
  return <GuidePage />;
}

/** Previews unsaved settings with the components of the public site. */
function SitePreview({ site, language }: { site: SiteTexts; language: Language }) {
  const boot = useBoot();
  return (
    <BootProvider value={{ ...boot, site }}>
      <LanguageScope language={language}>
        <TrustedByLine />
        <AboutSection />
        <ContactChannels />
        {/* Inside an article, so that screen readers do not take it for the footer of the page. */}
        <article>
          <Footer />
        </article>
        <PrivacyArticle />
      </LanguageScope>
    </BootProvider>
  );
}

/** The trusted-by line, as the home page shows it. */
function TrustedByLine() {
  const trustedBy = useSiteText("testimonials.trustedBy");
  if (!trustedBy.text) return null;
  return (
    <h2 lang={trustedBy.lang} className="page-container text-h2 oldstyle pt-section">
      {trustedBy.text}
    </h2>
  );
}

/** The links to the owner's contact channels, and the section that says whether the artist takes commissions (works to order). */
function ContactChannels() {
  const t = useT();
  const { commissions } = useBoot().site;
  return (
    <section className="page-container pb-section">
      <h2 className="text-h1 oldstyle">{t("contact.title")}</h2>
      <div className="max-w-[560px]">
        <ContactLinks />
      </div>
      <div className="mt-10">{commissions && <Commissions {...commissions} />}</div>
    </section>
  );
}
