import { ArrowRight } from "lucide-react";
import { useGuide } from "@/features/admin-settings/api/guide";
import {
  guideUrl,
  seedSteps,
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
 * Lists the steps of the guide whose settings still have the seed's values. Hidden if there are none or the guide has
 * ended.
 */
export function GuideChecklist() {
  const t = useT();
  const { language } = useLanguage();
  const { data } = useGuide();
  const { end, ending } = useEndGuide();
  const steps = data && data.guide === "" ? seedSteps(data) : [];
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
          loading={ending !== undefined}
          onClick={() => end("dismissed")}
        >
          {t("guide.dismiss")}
        </Button>
      </div>
    </section>
  );
}

/** The current value of a step whose setting is one line of text. */
function CurrentValue({
  step,
  site,
  language,
}: {
  step: GuideStep;
  site: SiteTexts;
  language: Language;
}) {
  const own = site.texts[language];
  const lines: Partial<Record<GuideStep, string>> = {
    name: site.name,
    texts: own["about.title"],
    trustedBy: own["testimonials.trustedBy"],
  };
  const line = lines[step];
  return line ? <span className="text-ink2 block truncate text-sm">{line}</span> : null;
}
