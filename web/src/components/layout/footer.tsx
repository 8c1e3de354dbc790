import { ArrowUpRight } from "lucide-react";
import { Link } from "@/components/ui/link";
import { cn } from "@/lib/cn";
import { useBoot } from "@/lib/boot";
import { useT } from "@/lib/i18n";
import { facebookUrl, instagramUrl, whatsappUrl } from "@/lib/site-links";

/**
 * The style of a site name of more than 10 characters. The normal font size, up to 13rem, fits only short names. This size is
 * at most 6rem, so that a long name wraps and fits into every window width.
 */
const longNameStyle = {
  fontSize: "clamp(2.75rem,1.5rem + 5vw,6rem)",
  lineHeight: 1.02,
  maxWidth: "16em",
};

/** The footer of public pages. Its texts are Portuguese in both languages (docs/product.md, rule 20). */
export function Footer() {
  const t = useT();
  const { site, today } = useBoot();
  const profiles = [
    { name: "Instagram", url: instagramUrl(site) },
    { name: "WhatsApp", url: whatsappUrl(site) },
    { name: "Facebook", url: facebookUrl(site) },
  ].filter(({ url }) => url !== undefined);
  return (
    <footer lang="pt" className="band">
      <div className="page-container pt-[clamp(2.5rem,1.85rem+2.7vw,5rem)] pb-9">
        <div className="flex flex-wrap items-end justify-between gap-x-16 gap-y-[25px]">
          <p
            aria-hidden="true"
            style={site.name.length > 10 ? longNameStyle : undefined}
            className="-ml-[0.035em] min-w-0 text-[clamp(5rem,2rem+13vw,13rem)] leading-[0.98] font-[220] tracking-[-0.035em] wrap-anywhere"
          >
            {site.name}
          </p>
          <ul
            className={cn(
              "grid grid-cols-1 gap-x-14 md:pb-[18px]",
              profiles.length > 0 && "md:grid-cols-[auto_auto]",
            )}
          >
            {profiles.map(({ name, url }) => (
              <li key={name}>
                <a
                  href={url}
                  target="_blank"
                  rel="noopener noreferrer"
                  className="inline-flex min-h-[46px] items-center gap-2 underline-offset-[0.3em] hover:underline"
                >
                  {name}
                  <ArrowUpRight aria-hidden="true" size={20} strokeWidth={1.75} />
                </a>
              </li>
            ))}
            <li>
              <Link
                to="/politica-privacidade"
                className="inline-flex min-h-[46px] items-center underline-offset-[0.3em] hover:underline"
              >
                {t("footer.privacy")}
              </Link>
            </li>
          </ul>
        </div>
        <div className="border-on-band/35 text-on-band-muted mt-14 flex flex-wrap justify-between gap-x-10 gap-y-2 border-t pt-[22px] md:mt-[38px] text-sm">
          <p className="wrap-anywhere">
            {t("footer.rights", { year: today.slice(0, 4), name: site.name })}
          </p>
          <p>{t("footer.line")}</p>
        </div>
      </div>
    </footer>
  );
}
