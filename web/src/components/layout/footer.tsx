import { ArrowUpRight } from "lucide-react";
import { Link } from "@/components/ui/link";
import { cn } from "@/lib/cn";
import { useBoot } from "@/lib/boot";
import { useT } from "@/lib/i18n";
import { facebookUrl, instagramUrl, whatsappUrl } from "@/lib/site-links";

/** Portuguese in both languages (specification §1), hence its own lang. */
export function Footer() {
  const t = useT();
  const { site, today } = useBoot();
  const profiles = [
    { name: "Instagram", url: instagramUrl(site) },
    { name: "WhatsApp", url: whatsappUrl(site) },
    { name: "Facebook", url: facebookUrl(site) },
  ].filter(({ url }) => url !== undefined);
  return (
    <footer lang="pt" className="barra">
      <div className="wrap pt-[clamp(2.5rem,1.85rem+2.7vw,5rem)] pb-9">
        <div className="flex flex-wrap items-end justify-between gap-x-16 gap-y-[25px]">
          <p
            aria-hidden="true"
            className="-ml-[0.035em] text-[clamp(5rem,2rem+13vw,13rem)] leading-[0.98] font-[220] tracking-[-0.035em] break-normal"
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
        <div className="border-on-barra/35 text-on-barra-2 mt-14 flex flex-wrap justify-between gap-x-10 gap-y-2 border-t pt-[22px] md:mt-[38px] text-sm">
          <p>{t("footer.rights", { year: today.slice(0, 4), name: site.name })}</p>
          <p>{t("footer.line")}</p>
        </div>
      </div>
    </footer>
  );
}
