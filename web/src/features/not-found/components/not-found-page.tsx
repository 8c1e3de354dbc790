import "@/features/not-found/not-found-texts";
import { TextLink } from "@/components/ui/text-link";
import { useT } from "@/lib/i18n";
import { usePageTitle } from "@/lib/use-page-title";

/** The page for unknown URLs (404): the outline of a picture that is not there, with a label beside it. */
export function NotFoundPage() {
  const t = useT();
  usePageTitle(t("notFound.title"));
  return (
    <div className="page-container flex flex-col items-center gap-9 pt-[clamp(2.5rem,1.25rem+7vw,7.5rem)] pb-20 sm:flex-row sm:items-end sm:justify-center">
      <div
        aria-hidden="true"
        className="bg-ghost border-line relative aspect-5/4 w-full max-w-[520px] border [box-shadow:0_0_46px_rgb(21_27_42/0.07)]"
      >
        <span className="bg-edge absolute top-[26px] left-1/2 size-[9px] rounded-full [box-shadow:0_3px_4px_rgb(21_27_42/0.35)]" />
      </div>
      <div className="bg-pop work-shadow flex-none self-stretch rounded-sm px-[22px] pt-[15px] pb-[21px] sm:self-end">
        <h1 className="text-[1.75rem] leading-tight font-[350] italic">{t("notFound.title")}</h1>
        <p className="text-ink2 mt-[9px]">{t("notFound.body")}</p>
        <TextLink to="/" className="mt-[11px] inline-flex min-h-11 items-center text-sm">
          {t("notFound.home")}
        </TextLink>
      </div>
    </div>
  );
}
