import { useEffect, useRef, useState, type ReactNode } from "react";
import { Check } from "lucide-react";
import { Navigate, useNavigate, useSearchParams } from "react-router";
import { useSettings } from "@/features/admin-settings/api/load-settings";
import {
  SettingsForm,
  type FieldsProps,
  type FormState,
} from "@/features/admin-settings/components/settings-form";
import {
  LinkFields,
  NameField,
  PortraitField,
  TextFields,
} from "@/features/admin-settings/components/site-fields";
import {
  GUIDE_STEPS,
  guideUrl,
  stepsWithSeed,
  stateOf,
  STEP_TITLES,
  type GuideStep,
  type StepState,
} from "@/features/admin-settings/guide-steps";
import { useEndGuide } from "@/features/admin-settings/hooks/use-end-guide";
import { AdminListState } from "@/components/layout/admin-list-state";
import { AdminPage } from "@/components/layout/admin-page";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { buttonClasses } from "@/components/ui/button-classes";
import { Link } from "@/components/ui/link";
import { cn } from "@/lib/cn";
import { useAuth } from "@/lib/auth";
import { useRowCount } from "@/lib/count-rows";
import { useDraftLock } from "@/lib/draft-lock";
import { draftName } from "@/lib/drafts";
import { useT } from "@/lib/i18n";
import { oneOf } from "@/lib/list-url";
import type { TextKey } from "@/lib/texts";
import type { SettingsResponse } from "@/lib/types";

// In the first-run guide, the owner of a new site replaces the seed (the settings that a new site starts with) step by step.
// guide-steps.ts has the steps and their settings.

/** The explanation of each step, as text keys. */
const EXPLANATIONS: Record<GuideStep, TextKey> = {
  name: "guide.about.name",
  portrait: "guide.about.portrait",
  texts: "guide.about.texts",
  trustedBy: "guide.about.trustedBy",
  links: "settings.linksIntro",
  works: "guide.about.works",
};

/** How the page shows the state of a step: the tone and the text of a badge, and the text beside the badge. */
const STATE_LABELS: Record<
  StepState,
  { tone: "ochre" | "outline" | "green"; badgeText: TextKey; text: TextKey }
> = {
  seed: { tone: "ochre", badgeText: "guide.seed", text: "guide.seedText" },
  empty: { tone: "outline", badgeText: "guide.empty", text: "guide.emptyText" },
  own: { tone: "green", badgeText: "guide.own", text: "guide.ownText" },
};

/** The page of the guide. Its URL names the step that is shown. */
export function GuidePage() {
  const t = useT();
  const { data, isError, isFetching, refetch } = useSettings();
  // Incremented to mount a new form when newer settings are loaded after a conflict.
  const [formKey, setFormKey] = useState(0);
  return (
    <AdminPage title={t("guide.title")}>
      <AdminListState
        query={{ data: data && [data], isError, isFetching, refetch }}
        empty={t("common.loading")}
      >
        {([loaded]) => (
          <Guide
            loaded={loaded!}
            formKey={formKey}
            onReload={async () => {
              const { error } = await refetch();
              if (error) throw error;
              setFormKey((before) => before + 1);
            }}
          />
        )}
      </AdminListState>
    </AdminPage>
  );
}

type GuideProps = { loaded: SettingsResponse; formKey: number; onReload(): Promise<void> };

/** The guide at the step of the URL. If the URL names no step, opens the first step whose settings still have seed values. */
function Guide({ loaded, formKey, onReload }: GuideProps) {
  const t = useT();
  const navigate = useNavigate();
  const [search] = useSearchParams();
  const works = useRowCount("products").data;
  const { endGuide, savingState } = useEndGuide(() => void navigate("/admin"));
  const step = oneOf(GUIDE_STEPS, search.get("step"));
  const heading = useHeadingFocus(step);
  if (!step) return <Navigate to={guideUrl(stepsWithSeed(loaded)[0] ?? "name")} replace />;

  const stepIndex = GUIDE_STEPS.indexOf(step);
  const state = stateOf(step, loaded, works);
  const { tone, badgeText, text } = STATE_LABELS[state];
  const back = GUIDE_STEPS[stepIndex - 1];
  return (
    <>
      <p className="text-ink2 max-w-[42em]">{t("guide.intro")}</p>
      <StepList current={step} state={(listed) => stateOf(listed, loaded, works)} />
      <h2
        ref={heading}
        tabIndex={-1}
        className="mt-8 scroll-mt-24 text-[1.5rem] leading-tight font-[430] focus-visible:outline-none"
      >
        <span className="text-ink2 mb-1 block text-sm font-[430]">
          {t("guide.step", { n: stepIndex + 1, total: GUIDE_STEPS.length })}
        </span>
        {t(STEP_TITLES[step])}
      </h2>
      <p className="mt-3 flex flex-wrap items-center gap-x-3 gap-y-1.5">
        <Badge tone={tone}>{t(badgeText)}</Badge>
        <span className="text-sm">{t(text)}</span>
      </p>
      <p className="text-ink2 mt-3 max-w-[42em] text-sm">{t(EXPLANATIONS[step])}</p>
      {step === "works" ? (
        <>
          <Works state={state} count={works} />
          <Remaining loaded={loaded} />
          <Foot back={back}>
            <Button size="sm" loading={savingState === "done"} onClick={() => endGuide("done")}>
              {t("guide.finish")}
            </Button>
          </Foot>
        </>
      ) : (
        <StepForm
          key={`${step} ${formKey}`}
          {...{ step, loaded, state, back, onReload }}
          onDone={() => void navigate(guideUrl(GUIDE_STEPS[stepIndex + 1]!))}
        />
      )}
      {loaded.guide === "" && (
        <div className="border-line mt-2 border-t pt-5">
          <p className="text-ink2 max-w-[42em] text-sm">{t("guide.later")}</p>
          <Button
            variant="outline"
            size="sm"
            className="mt-3"
            loading={savingState === "dismissed"}
            onClick={() => endGuide("dismissed")}
          >
            {t("guide.dismiss")}
          </Button>
        </div>
      )}
    </>
  );
}

type StepFormProps = {
  step: Exclude<GuideStep, "works">;
  loaded: SettingsResponse;
  state: StepState;
  back: GuideStep | undefined;
  onReload(): Promise<void>;
  onDone(): void;
};

/** The form with the settings of one step. */
function StepForm({ step, loaded, state, back, onReload, onDone }: StepFormProps) {
  const t = useT();
  const { user } = useAuth();
  // In state, because during sign-out the form is still mounted when there is no user any more.
  const [firstTabDraft] = useState(() => draftName(user?.id, `guide-${step}`));
  const lockedDraft = useDraftLock(firstTabDraft);
  if (lockedDraft === undefined) return null;
  return (
    <SettingsForm {...{ loaded, onReload, onDone }} draftName={lockedDraft} privacySeed={() => ""}>
      {(fieldsProps, { hasChanges, uploading, saving }) => (
        <>
          <div className="mt-6 grid gap-6">
            <Fields step={step} fieldsProps={fieldsProps} />
          </div>
          <Foot back={back} status={hasChanges && t("common.discardTitle")}>
            <Submit {...{ hasChanges, uploading, saving }} skip={state !== "own"} />
          </Foot>
        </>
      )}
    </SettingsForm>
  );
}

/** Returns a ref for the heading, which gets the focus when the step changes. */
function useHeadingFocus(step: GuideStep | undefined) {
  const heading = useRef<HTMLHeadingElement>(null);
  const last = useRef(step);
  useEffect(() => {
    if (last.current && last.current !== step) heading.current?.focus();
    last.current = step;
  }, [step]);
  return heading;
}

type StepListProps = { current: GuideStep; state(step: GuideStep): StepState };

/** The links to all steps with their states. */
function StepList({ current, state }: StepListProps) {
  const t = useT();
  return (
    <nav aria-label={t("guide.title")} className="mt-6">
      <ol className="grid grid-cols-6 gap-2 md:gap-3">
        {GUIDE_STEPS.map((step, index) => (
          <li key={step} className="flex">
            <Link
              to={guideUrl(step)}
              aria-current={step === current ? "step" : undefined}
              className={cn(
                "hover:bg-indigo-tint flex min-h-12 w-full flex-col items-center justify-center border-b-6 px-1 py-1.5 text-center transition-colors duration-200 md:items-start md:justify-start md:text-left",
                step === current ? "border-indigo text-ink" : "border-line text-ink2",
              )}
            >
              {state(step) === "own" ? (
                <Check aria-hidden="true" size={22} strokeWidth={2} className="my-0.5 flex-none" />
              ) : (
                <span aria-hidden="true" className="oldstyle">
                  {index + 1}
                </span>
              )}
              <span className="max-md:sr-only text-sm leading-tight">{t(STEP_TITLES[step])}</span>
              <span className="sr-only">, {t(STATE_LABELS[state(step)].badgeText)}</span>
            </Link>
          </li>
        ))}
      </ol>
    </nav>
  );
}

/** The fields of a step. */
function Fields({ step, fieldsProps }: { step: GuideStep; fieldsProps: FieldsProps }) {
  const { base, portrait, isPortraitRefused } = fieldsProps;
  switch (step) {
    case "name":
      return <NameField />;
    case "portrait":
      return (
        <>
          <PortraitField portrait={portrait} isPortraitRefused={isPortraitRefused} />
          <TextFields rows={{ portraitAlt: 0 }} stored={base} />
        </>
      );
    case "texts":
      return (
        <TextFields
          rows={{ title: 0, description: 5, description2: 5, responseTime: 0, thanks: 3 }}
          stored={base}
        />
      );
    case "trustedBy":
      return <TextFields rows={{ trustedBy: 0 }} stored={base} />;
    default:
      return <LinkFields base={base} />;
  }
}

/** The step of the works, which the owner adds on another page. */
function Works({ state, count }: { state: StepState; count: number | undefined }) {
  const t = useT();
  return (
    <div className="mt-6">
      {count !== undefined && (
        <p className="text-lead max-w-[33em]">
          {state === "own" ? t("guide.works.own", { n: count }) : t(`guide.works.${state}`)}
        </p>
      )}
      <Link
        to="/admin/products"
        className={buttonClasses({ variant: "outline", size: "sm", className: "mt-5" })}
      >
        {t("guide.works.open")}
      </Link>
    </div>
  );
}

/** Names the steps whose settings still have the seed's values. */
function Remaining({ loaded }: { loaded: SettingsResponse }) {
  const t = useT();
  const names = stepsWithSeed(loaded).map((step) => t(STEP_TITLES[step]));
  if (names.length === 0) return null;
  return (
    <p className="text-ink2 mt-6 max-w-[42em] text-sm">
      {t("guide.left", { list: names.join(", ") })}
    </p>
  );
}

/** The sticky footer of a step: a status, the link to the previous step (`back`), and buttons. */
function Foot({
  back,
  status,
  children,
}: {
  back?: GuideStep;
  status?: ReactNode;
  children: ReactNode;
}) {
  const t = useT();
  return (
    <div
      data-sticky-foot
      className="bg-page border-line sticky bottom-0 z-10 mt-10 flex flex-wrap items-center justify-end gap-x-3 gap-y-2 border-t py-4"
    >
      <p role="status" className="text-ink2 mr-auto text-sm max-sm:basis-full">
        {status}
      </p>
      {back && (
        <Link to={guideUrl(back)} className={buttonClasses({ variant: "outline", size: "sm" })}>
          {t("guide.back")}
        </Link>
      )}
      {children}
    </div>
  );
}

/** The submit button of a step. It is one button with changing labels, so that it keeps the focus. */
function Submit({
  hasChanges,
  uploading,
  saving,
  skip,
}: Omit<FormState, "next"> & { skip: boolean }) {
  const t = useT();
  const label = saving
    ? "common.saving"
    : hasChanges
      ? "guide.save"
      : skip
        ? "guide.skip"
        : "guide.next";
  return (
    <Button type="submit" size="sm" disabled={uploading} loading={saving}>
      {t(label)}
    </Button>
  );
}
