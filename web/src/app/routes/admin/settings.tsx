import { Footer } from "@/components/layout/footer";
import { AboutSection } from "@/features/about/components/about-section";
import { SettingsPage } from "@/features/admin-settings/components/settings-page";
import { ContactWays } from "@/features/contact/components/contact-ways";
import { PrivacyArticle } from "@/features/privacy/components/privacy-article";
import { BootProvider, useBoot, type Language, type SiteTexts } from "@/lib/boot";
import { LanguageScope, useT } from "@/lib/i18n";
import { useSiteText } from "@/lib/site-text";

export function SettingsRoute() {
  return <SettingsPage preview={SitePreview} />;
}

/** The site's own pieces, filled with settings that are not saved yet. */
function SitePreview({ site, language }: { site: SiteTexts; language: Language }) {
  const boot = useBoot();
  return (
    <BootProvider value={{ ...boot, site }}>
      <LanguageScope language={language}>
        <Claim />
        <AboutSection />
        <Ways />
        {/* Not the page's own footer, so it must not be found as one. */}
        <article>
          <Footer />
        </article>
        <PrivacyArticle />
      </LanguageScope>
    </BootProvider>
  );
}

function Claim() {
  const trustedBy = useSiteText("testimonials.trustedBy");
  if (!trustedBy.text) return null;
  return (
    <h2 lang={trustedBy.lang} className="wrap text-h2 osf pt-section">
      {trustedBy.text}
    </h2>
  );
}

function Ways() {
  const t = useT();
  return (
    <section className="wrap pb-section">
      <h2 className="text-h1 osf">{t("contact.title")}</h2>
      <div className="max-w-[560px]">
        <ContactWays />
      </div>
    </section>
  );
}
