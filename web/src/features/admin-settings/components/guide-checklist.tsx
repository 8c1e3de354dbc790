import { ArrowRight } from "lucide-react";
import { useGuide } from "@/features/admin-settings/api/guide";
import {
  guideUrl,
  stepsWithSeed,
  STEP_TITLES,
  type GuideStep,
} from "@/features/admin-settings/guide-steps";
import { useEndGuide } from "@/features/admin-settings/hooks/use-end-guide";
import { Button } from "@/components/ui/button";
import { buttonClasses } from "@/components/ui/button-classes";
import { Link } from "@/components/ui/link";
import type { Language, SiteTexts } from "@/lib/boot";
import { useLanguage, useT } from "@/lib/i18n";

/**
 * Lists the unfinished steps of the first-run guide on the overview of the admin area. A step is unfinished while one of its settings
 * has the value with which a new site starts (the seed). Renders nothing if all steps are finished, or after the owner has finished
 * or dismissed the guide.
 */
export function GuideChecklist() {
  const t = useT();
  const { language } = useLanguage();
  const { data } = useGuide();
  const { endGuide, savingState } = useEndGuide();
  // data.guide is "" until the owner finishes or dismisses the guide.
  const steps = data && data.guide === "" ? stepsWithSeed(data) : [];
  if (!data || steps.length === 0) return null;
  return (
    <section aria-labelledby="guide" className="mt-12 max-w-[40rem]">
      <h2 id="guide" className="text-[1.5rem] leading-tight font-[350]">
        {t("guide.checklist")}
      </h2>
      <p className="text-ink2 mt-1.5 text-sm">{t("guide.checklistText")}</p>
      <ul className="border-ink mt-3 border-t-2">
        {steps.map((step) => (
          <li key={step} className="border-line border-b">
            <Link
              to={guideUrl(step)}
              className="hover:bg-indigo-tint flex min-h-14 items-center justify-between gap-4 py-2"
            >
              <span className="min-w-0">
                {t(STEP_TITLES[step])}{" "}
                <CurrentValue step={step} site={data.settings.site} language={language} />
              </span>
              <ArrowRight aria-hidden="true" size={20} strokeWidth={1.5} className="flex-none" />
            </Link>
          </li>
        ))}
      </ul>
      <div className="mt-6 flex flex-wrap gap-3">
        <Link to={guideUrl(steps[0]!)} className={buttonClasses({ size: "sm" })}>
          {t("guide.continue")}
        </Link>
        <Button
          variant="outline"
          size="sm"
          loading={savingState !== undefined}
          onClick={() => endGuide("dismissed")}
        >
          {t("guide.dismiss")}
        </Button>
      </div>
    </section>
  );
}

/** The current value of a step's setting, if the step has a setting of one line. */
function CurrentValue({
  step,
  site,
  language,
}: {
  step: GuideStep;
  site: SiteTexts;
  language: Language;
}) {
  const ownTexts = site.texts[language];
  const values: Partial<Record<GuideStep, string>> = {
    name: site.name,
    texts: ownTexts["about.title"],
    trustedBy: ownTexts["testimonials.trustedBy"],
  };
  const value = values[step];
  return value ? <span className="text-ink2 block truncate text-sm">{value}</span> : null;
}
