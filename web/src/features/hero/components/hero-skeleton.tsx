import { Link } from "@/components/ui/link";
import { buttonClasses } from "@/components/ui/button-classes";
import { useT } from "@/lib/i18n";

/** The placeholder of the hero (the top of the home page) while the covers load. Its link to the gallery already works. */
export function HeroSkeleton() {
  const t = useT();
  return (
    <section
      data-hero=""
      aria-label={t("hero.label")}
      aria-busy="true"
      className="grid h-svh min-h-[26rem] grid-rows-[minmax(0,1fr)_auto]"
    >
      <div className="bg-neutral" />
      <div className="band">
        <div className="page-container flex items-end py-[26px] lg:justify-end lg:py-9">
          <div aria-hidden="true" className="min-h-[10.5rem] lg:min-h-[11rem]" />
          <Link
            to="/gallery/all"
            className={buttonClasses({ variant: "white", className: "grow md:grow-0" })}
          >
            {t("hero.exploreGallery")}
          </Link>
        </div>
      </div>
    </section>
  );
}
