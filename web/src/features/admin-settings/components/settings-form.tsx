import { useEffect, useState } from "react";
import { zodResolver } from "@hookform/resolvers/zod";
import { flushSync } from "react-dom";
import { FormProvider, useForm, useWatch, type FieldErrors } from "react-hook-form";
import { REFUSED, STALE, useSaveSettings } from "@/features/admin-settings/api/save-settings";
import { changesOf } from "@/features/admin-settings/changes";
import { BilingualField } from "@/features/admin-settings/components/bilingual-field";
import { ConflictDialog } from "@/features/admin-settings/components/conflict-dialog";
import { AdminGroup } from "@/components/layout/admin-group";
import { LanguageTabs } from "@/features/admin-settings/components/language-tabs";
import { NoticeGroup } from "@/features/admin-settings/components/notice-group";
import { PreviewDialog, type Preview } from "@/features/admin-settings/components/preview-dialog";
import {
  fieldOf,
  settingsOf,
  settingsSchema,
  TEXT_NAMES,
  valuesOf,
  type SettingsValues,
} from "@/features/admin-settings/schema";
import { DateField } from "@/components/form/date-field";
import { TextAreaField } from "@/components/form/text-area-field";
import { TextField } from "@/components/form/text-field";
import { Button } from "@/components/ui/button";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { SingleImageField } from "@/components/upload/single-image-field";
import { useNoStrayDrops } from "@/components/upload/use-no-stray-drops";
import { useUpload } from "@/components/upload/use-upload";
import { useUploadQueue } from "@/components/upload/use-upload-queue";
import { useUploadToasts } from "@/components/upload/use-upload-toasts";
import { useAuth } from "@/lib/auth";
import type { Language, SiteTexts } from "@/lib/boot";
import { BUCKETS, LANGUAGES } from "@/lib/constants";
import { draftName, draftOf, dropDraft, keepDraft } from "@/lib/drafts";
import { messageOf } from "@/lib/errors";
import { otherLanguage, useLanguage, useT } from "@/lib/i18n";
import { useLeaveGuard } from "@/lib/use-leave-guard";
import { PRIVACY_SECTIONS, type PrivacySection } from "@/lib/privacy-sections";
import type { Key } from "@/lib/texts";
import { areaToast } from "@/lib/toast";
import type { SettingsAnswer } from "@/lib/types";
import { IMAGE_ONLY } from "@/lib/upload/media-types";

type SettingsFormProps = {
  /** Read once; what is saved here becomes the new base. */
  loaded: SettingsAnswer;
  preview: Preview;
  onReload(): Promise<void>;
};

/** What was typed, over what it was typed, and the picture that was uploaded. */
type Draft = { base: SettingsAnswer; values: SettingsValues; portrait: string };

export function SettingsForm({ loaded, preview, onReload }: SettingsFormProps) {
  const t = useT();
  const { language } = useLanguage();
  const { user } = useAuth();
  // Held fast: in the moment of signing out there is a form and no user.
  const [draft] = useState(() => draftName(user?.id, "settings"));
  const [kept] = useState(() => draftOf(draft) as Draft | undefined);
  const [base, setBase] = useState(kept?.base ?? loaded);
  const [shown, setShown] = useState<Language>(language);
  const [previewed, setPreviewed] = useState<SiteTexts | null>(null);
  const [conflict, setConflict] = useState(false);
  const [reloading, setReloading] = useState(false);
  const save = useSaveSettings();
  const privacySeed = (section: PrivacySection) => t(`privacy.${section}.body`);
  const form = useForm<SettingsValues>({
    resolver: zodResolver(settingsSchema),
    defaultValues: kept?.values ?? valuesOf(base.settings, privacySeed),
    // The language of the texts decides which one is in view.
    shouldFocusError: false,
  });
  const { register, control, formState, setError, setFocus, reset, handleSubmit } = form;
  const { errors } = formState;
  const portrait = useUploadQueue({
    kinds: IMAGE_ONLY,
    single: true,
    upload: useUpload(BUCKETS.products),
    onProblem: useUploadToasts(),
    initial: [kept ? kept.portrait : (base.settings.site.portrait ?? "")].filter(Boolean),
  });
  useNoStrayDrops();

  const portraitUrl = portrait.urls[0] ?? "";
  const values = useWatch({ control }) as SettingsValues;
  const next = settingsOf(values, portraitUrl, privacySeed);
  const changed = portrait.busy || Object.keys(changesOf(base.settings, next)).length > 0;
  const unsaved = changed && !reloading;
  const leaving = useLeaveGuard(unsaved);
  useEffect(() => {
    if (unsaved) keepDraft(draft, { base, values, portrait: portraitUrl } satisfies Draft);
    else dropDraft(draft);
  }, [unsaved, draft, base, values, portraitUrl]);
  const missing = missingTexts(values);
  const error = (name: "name" | "instagram" | "facebook" | "whatsapp" | "email" | "privacySince") =>
    errors[name]?.message && t(errors[name].message as Key);
  const text = (message: string | undefined) => message && t(message as Key);

  /** Brings a field into view, also one of the language that a phone does not show, and focuses it. */
  function focusOn(field: string) {
    const inTexts = /^texts\.(en|pt)\./.exec(field);
    if (inTexts) flushSync(() => setShown(inTexts[1] as Language));
    setFocus(field as "name");
  }

  async function submit(sent: SettingsValues, overNewer = false) {
    try {
      const answer = await save.mutateAsync({
        base,
        next: settingsOf(sent, portraitUrl, privacySeed),
        overNewer,
      });
      setBase(answer);
      reset(valuesOf(answer.settings, privacySeed));
      setConflict(false);
      areaToast({ title: t("settings.toast.saved") });
    } catch (failure) {
      const { code, details } = Object(failure) as { code?: string; details?: string };
      if (code === STALE) {
        setConflict(true);
        return;
      }
      setConflict(false);
      const field = code === REFUSED && details ? fieldOf(details) : undefined;
      if (field) {
        setError(field as "name", { message: "settings.error.refused" satisfies Key });
        focusOn(field);
      }
      areaToast({
        title: t("settings.toast.saveError"),
        // Without a code it never reached the service.
        description: code ? messageOf(failure) : t("auth.error.offline"),
        destructive: true,
      });
    }
  }

  return (
    <FormProvider {...form}>
      <form
        noValidate
        aria-busy={save.isPending || undefined}
        onSubmit={(event) => {
          if (portrait.busy || save.isPending) event.preventDefault();
          else
            void handleSubmit(
              (sent) => submit(sent),
              (found) => focusOn(firstError(found)),
            )(event);
        }}
      >
        {kept && changed && (
          <p role="status" className="text-ink2 mb-6 text-sm">
            {t("common.draftBack")}
          </p>
        )}
        <AdminGroup title={t("settings.group.name")}>
          <TextField
            label={t("settings.name")}
            required
            error={error("name")}
            className="max-w-[28em]"
            {...register("name")}
          />
          <SingleImageField label={t("settings.portrait")} optional queue={portrait} />
        </AdminGroup>

        <AdminGroup title={t("settings.group.about")} intro={t("settings.bothIntro")}>
          <LanguageTabs {...{ shown, missing }} onShow={setShown} />
          <BilingualField name="title" shown={shown} />
          <BilingualField name="description" rows={5} shown={shown} />
          <BilingualField name="description2" rows={5} shown={shown} />
          <BilingualField name="portraitAlt" shown={shown} />
        </AdminGroup>

        <AdminGroup title={t("settings.group.claims")} intro={t("settings.claimsIntro")}>
          <LanguageTabs {...{ shown, missing }} onShow={setShown} />
          <BilingualField name="trustedBy" shown={shown} />
          <BilingualField name="responseTime" shown={shown} />
          <BilingualField name="thanks" rows={3} shown={shown} />
        </AdminGroup>

        <AdminGroup title={t("settings.group.links")} intro={t("settings.linksIntro")}>
          <div className="grid gap-x-7 gap-y-6 md:grid-cols-2">
            <TextField
              label="Instagram"
              hint={t("settings.profileHint")}
              error={error("instagram")}
              autoCapitalize="off"
              spellCheck={false}
              {...register("instagram")}
            />
            <TextField
              label="Facebook"
              hint={t("settings.profileHint")}
              error={error("facebook")}
              autoCapitalize="off"
              spellCheck={false}
              {...register("facebook")}
            />
            <TextField
              label="WhatsApp"
              hint={t("settings.whatsappHint")}
              error={error("whatsapp")}
              inputMode="tel"
              {...register("whatsapp")}
            />
            <TextField
              label={t("settings.email")}
              hint={t("settings.emailHint")}
              type="email"
              error={error("email")}
              {...register("email")}
            />
          </div>
        </AdminGroup>

        <AdminGroup title={t("settings.group.privacy")} intro={t("settings.privacyIntro")}>
          <DateField
            label={t("settings.privacySince")}
            hint={t("settings.privacySinceHint")}
            error={error("privacySince")}
            className="max-w-[28em]"
            {...register("privacySince")}
          />
          <div className="grid gap-x-7 gap-y-6 md:grid-cols-2">
            {PRIVACY_SECTIONS.map((section) => (
              <TextAreaField
                key={section}
                lang="pt"
                label={t(`privacy.${section}.title`)}
                rows={4}
                error={text(errors.privacy?.[section]?.message)}
                {...register(`privacy.${section}`)}
              />
            ))}
          </div>
        </AdminGroup>

        <NoticeGroup />

        <div
          data-sticky-foot
          className="bg-cal border-line sticky bottom-0 z-10 mt-12 flex flex-wrap items-center justify-end gap-x-3 gap-y-2 border-t py-4"
        >
          <p role="status" className="text-ink2 mr-auto text-sm max-sm:basis-full">
            {changed ? t("common.discardTitle") : t("settings.allSaved")}
          </p>
          <Button variant="outline" size="sm" onClick={() => setPreviewed(next.site)}>
            {t("settings.preview")}
          </Button>
          <Button
            type="submit"
            size="sm"
            disabled={portrait.busy || !changed}
            loading={save.isPending}
          >
            {save.isPending ? t("common.saving") : t("common.saveChanges")}
          </Button>
        </div>
      </form>

      <PreviewDialog site={previewed} preview={preview} onClose={() => setPreviewed(null)} />
      <ConflictDialog
        open={conflict}
        busy={save.isPending || reloading}
        onKeep={() => setConflict(false)}
        onSaveOver={() => void handleSubmit((sent) => submit(sent, true))()}
        onShowNewer={() => {
          setReloading(true);
          onReload().catch((failure: unknown) => {
            setReloading(false);
            areaToast({
              title: t("common.loadError"),
              description: messageOf(failure),
              destructive: true,
            });
          });
        }}
      />
      <ConfirmDialog
        open={leaving.asking}
        onOpenChange={(open) => (open ? undefined : leaving.stay())}
        title={t("common.discardTitle")}
        question={t("settings.leaveQuestion")}
        cancelLabel={t("common.keepEditing")}
        confirmLabel={t("settings.leave")}
        onConfirm={() => {
          dropDraft(draft);
          leaving.leave();
        }}
      />
    </FormProvider>
  );
}

/** How many texts each language lacks that the other one has. */
function missingTexts({ texts }: SettingsValues): Record<Language, number> {
  const count = (language: Language) =>
    TEXT_NAMES.filter(
      (name) =>
        texts[language][name].trim() === "" && texts[otherLanguage(language)][name].trim() !== "",
    ).length;
  return { en: count("en"), pt: count("pt") };
}

/** The first field that is wrong, in the order of the page. */
function firstError(errors: FieldErrors<SettingsValues>): string {
  if (errors.name) return "name";
  for (const language of LANGUAGES) {
    const name = TEXT_NAMES.find((one) => errors.texts?.[language]?.[one]);
    if (name) return `texts.${language}.${name}`;
  }
  const section = PRIVACY_SECTIONS.find((one) => errors.privacy?.[one]);
  const plain = ["instagram", "facebook", "whatsapp", "email", "privacySince"] as const;
  return (
    plain.find((one) => errors[one]) ??
    (section ? `privacy.${section}` : errors.noticeEmail ? "noticeEmail" : "noticeWebhook")
  );
}
