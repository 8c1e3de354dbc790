import { Link } from "@/components/ui/link";
import { buttonLooks } from "@/components/ui/button-looks";
import { useT } from "@/lib/i18n";

/** Holds the hero's place while the covers are on their way, and already leads to the gallery. */
export function HeroWaiting() {
  const t = useT();
  return (
    <section
      data-hero=""
      aria-label={t("hero.label")}
      aria-busy="true"
      className="grid h-svh min-h-[26rem] grid-rows-[minmax(0,1fr)_auto]"
    >
      <div className="bg-fundo" />
      <div className="barra">
        <div className="wrap flex items-end py-[26px] lg:justify-end lg:py-9">
          <div aria-hidden="true" className="min-h-[10.5rem] lg:min-h-[11rem]" />
          <Link
            to="/gallery/all"
            className={buttonLooks({ variant: "white", className: "grow md:grow-0" })}
          >
            {t("hero.exploreGallery")}
          </Link>
        </div>
      </div>
    </section>
  );
}
