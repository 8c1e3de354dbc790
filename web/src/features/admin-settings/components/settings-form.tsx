import { useEffect, useRef, useState, type ReactNode } from "react";
import { zodResolver } from "@hookform/resolvers/zod";
import { FormProvider, useForm, useWatch, type FieldErrors } from "react-hook-form";
import {
  INVALID,
  useSaveSettings,
  type SettingsSaveRequest,
} from "@/features/admin-settings/api/save-settings";
import { changesOf, keepTyped } from "@/features/admin-settings/changes";
import {
  COMMISSION_TEXT_NAMES,
  formFieldName,
  refusalText,
  toSettings,
  settingsSchema,
  TEXT_NAMES,
  toFormValues,
  type SettingsValues,
} from "@/features/admin-settings/schema";
import { countryOfBrowser } from "@/features/admin-settings/whatsapp";
import { DraftNotice } from "@/components/form/draft-notice";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { ConflictDialog } from "@/components/ui/conflict-dialog";
import { usePreventFileDrop } from "@/components/upload/use-prevent-file-drop";
import { useUploader } from "@/components/upload/use-uploader";
import { useUploadQueue, type UploadQueue } from "@/components/upload/use-upload-queue";
import { useUploadToasts } from "@/components/upload/use-upload-toasts";
import { BUCKETS, LANGUAGES } from "@/lib/constants";
import { useFormDraft } from "@/lib/editing/use-form-draft";
import { useSave } from "@/lib/editing/use-save";
import { messageOf } from "@/lib/errors";
import { useT } from "@/lib/i18n";
import { useLeaveGuard } from "@/lib/editing/use-leave-guard";
import { PRIVACY_SECTIONS, type PrivacySection } from "@/lib/privacy-sections";
import type { TextKey } from "@/lib/texts";
import { stackedToast } from "@/lib/toast";
import type { SettingsResponse, SiteSettings } from "@/lib/types";
import { IMAGE_ONLY } from "@/lib/upload/media-types";
import type { PendingFile } from "@/lib/upload/upload-queue";

// The form of the site's settings: its values, the upload of the portrait, the draft (unsaved values in the browser),
// saving, conflicts with newer settings, and the question whether to leave the page with unsaved changes. The fields are in
// settings-groups.tsx (for the settings page) and guide-page.tsx (for the first-run guide).

/** The props that the form passes to its fields. The fields get the form's values from react-hook-form's context. */
export type FieldsProps = {
  /** The stored settings that the form's changes are based on. */
  base: SettingsResponse;
  /** The upload queue of the portrait's file. */
  portrait: UploadQueue;
  /** Whether the server has refused to save the portrait that is chosen now. */
  isPortraitRefused: boolean;
};

/** What the form passes to its footer. */
export type FormState = {
  /** The settings as they would be saved. */
  next: SiteSettings;
  /** Whether there are unsaved changes. */
  hasChanges: boolean;
  /** Whether the portrait is being uploaded. */
  uploading: boolean;
  saving: boolean;
};

type SettingsFormProps = {
  /** The settings with which the form starts. After a save, further changes are based on the saved settings. */
  loaded: SettingsResponse;
  draftName: string;
  /** Returns the text that a section of the privacy page has until the owner changes it. */
  privacySeed(this: void, section: PrivacySection): string;
  /** Loads newer settings and mounts a new form with them. */
  onReload(): Promise<void>;
  /** Called after a save, if nothing is unsaved, and when the form is submitted without changes. */
  onDone?(): void;
  children(fieldsProps: FieldsProps, state: FormState): ReactNode;
};

/** The draft of the form, as the browser stores it. */
type Draft = {
  /** The stored settings that the changes are based on. */
  base: SettingsResponse;
  values: SettingsValues;
  /** The URL of the uploaded portrait; "" if there is none. */
  portrait: string;
  /** Portrait files that were not uploaded when the draft was stored. */
  pending?: readonly PendingFile[];
};

/** A save of the form. `values` are the values that the form had. */
type SaveRequest = SettingsSaveRequest & { values: SettingsValues };

/** The form of the site's settings. Its children render the fields, which may be only some of the settings. */
export function SettingsForm({
  loaded,
  draftName,
  privacySeed,
  onReload,
  onDone,
  children,
}: SettingsFormProps) {
  const t = useT();
  const {
    draft: storedDraft,
    restored: draftSavedAt,
    clearRestored,
    store,
  } = useFormDraft<Draft>(draftName);
  const [base, setBase] = useState(storedDraft?.base ?? loaded);
  const [isReloading, setIsReloading] = useState(false);
  // The URL of the portrait that the server has refused; "" if it has refused none.
  const [refusedPortrait, setRefusedPortrait] = useState("");
  const { mutateAsync: sendSettings } = useSaveSettings();
  const [country] = useState(countryOfBrowser);
  const valuesFrom = ({ settings }: SettingsResponse) =>
    toFormValues(settings, privacySeed, country);
  const form = useForm<SettingsValues>({
    resolver: zodResolver(settingsSchema(base.settings.site.whatsapp ?? "")),
    // A draft stored by an earlier version of the site may lack fields. These fields get the stored values.
    defaultValues: { ...valuesFrom(base), ...storedDraft?.values },
    shouldFocusError: false, // firstError chooses the field to focus, in the order of the page
  });
  const { control, setError, setFocus, reset, handleSubmit } = form;
  const portrait = useUploadQueue({
    kinds: IMAGE_ONLY,
    single: true,
    upload: useUploader(BUCKETS.products).upload,
    onProblem: useUploadToasts(),
    draft: `${draftName}/portrait`,
    pending: storedDraft?.pending,
    initial: [storedDraft ? storedDraft.portrait : (base.settings.site.portrait ?? "")].filter(
      Boolean,
    ),
  });
  const latestPortrait = useRef(portrait);
  useEffect(() => {
    latestPortrait.current = portrait;
  });
  usePreventFileDrop();

  const portraitUrl = portrait.urls[0] ?? "";
  const { pending } = portrait;
  const values = useWatch({ control }) as SettingsValues;
  const next = toSettings(values, portraitUrl, privacySeed);
  const hasChanges = portrait.busy || Object.keys(changesOf(base.settings, next)).length > 0;
  const isUnsaved = (hasChanges || portrait.pending.length > 0) && !isReloading;
  const leaveGuard = useLeaveGuard(isUnsaved);
  // Stores the unsaved changes as the draft, and deletes the draft when there are none.
  useEffect(() => {
    store(isUnsaved ? { base, values, portrait: portraitUrl, pending } : null);
  }, [isUnsaved, store, base, values, portraitUrl, pending]);

  function discardDraft() {
    store(null);
    clearRestored();
    setBase(loaded);
    reset(valuesFrom(loaded));
    portrait.reset([loaded.settings.site.portrait ?? ""].filter(Boolean));
  }

  const focusOn = (field: string) => setFocus(field as "name");

  const {
    run: saveSettings,
    conflict,
    saving,
    dismissConflict,
  } = useSave<SaveRequest, SettingsResponse>({
    save: (request) => sendSettings(request),
    onSaved: (response, { values: sent }) => {
      const saved = valuesFrom(response);
      const kept = keepTyped(saved, sent, form.getValues());
      setBase(response);
      clearRestored();
      reset(kept);
      stackedToast({ title: t("settings.toast.saved") });
      // What was typed or chosen while the save ran is not saved, so the form stays open.
      const { busy, pending: notUploaded, urls } = latestPortrait.current;
      const isPortraitSaved =
        !busy &&
        notUploaded.length === 0 &&
        (urls[0] ?? "") === (response.settings.site.portrait ?? "");
      if (onDone && isPortraitSaved && Object.keys(changesOf(saved, kept)).length === 0) {
        leaveGuard.leave(); // the changes are saved, but the guard ends only with the next render
        onDone();
      }
    },
    onFailed: showFailure,
  });

  /** Shows why the settings were not saved, in a toast and, if the server names a field, at that field. */
  function showFailure(failure: unknown) {
    const { code, details, hint } = Object(failure) as Record<string, string | undefined>;
    dismissConflict();
    const invalid = code === INVALID;
    const field = invalid && details ? formFieldName(details) : undefined;
    const reason = invalid ? refusalText(hint) : undefined;
    if (invalid && details === "site.portrait") setRefusedPortrait(portraitUrl);
    if (field) {
      setError(field as "name", {
        message: reason ?? ("settings.error.refused" satisfies TextKey),
      });
      focusOn(field);
    }
    stackedToast({
      title: t("settings.toast.saveError"),
      // An error without a code means that the server did not respond.
      description: reason ? t(reason) : code ? messageOf(failure) : t("auth.error.offline"),
      destructive: true,
    });
  }

  const submit = (sent: SettingsValues, { overwrite = false } = {}) =>
    saveSettings({
      base,
      next: toSettings(sent, portraitUrl, privacySeed),
      overwrite,
      values: structuredClone(form.getValues()), // a copy, because the form changes its values in place
    });

  return (
    <FormProvider {...form}>
      <form
        noValidate
        aria-busy={saving || undefined}
        onSubmit={(event) => {
          if (portrait.busy || saving) event.preventDefault();
          else if (onDone && !hasChanges) {
            event.preventDefault();
            onDone();
          } else
            void handleSubmit(
              (sent) => submit(sent),
              (errors) => focusOn(firstError(errors)),
            )(event);
        }}
      >
        {draftSavedAt && isUnsaved && (
          <DraftNotice savedAt={draftSavedAt} onDiscard={discardDraft} className="mb-6" />
        )}
        {children(
          {
            base,
            portrait,
            isPortraitRefused: refusedPortrait !== "" && refusedPortrait === portraitUrl,
          },
          { next, hasChanges, uploading: portrait.busy, saving },
        )}
      </form>

      <ConflictDialog
        open={conflict !== null}
        busy={saving || isReloading}
        onKeepEditing={dismissConflict}
        onOverwrite={() => void handleSubmit((sent) => submit(sent, { overwrite: true }))()}
        onLoadNewer={() => {
          setIsReloading(true);
          onReload().catch((failure: unknown) => {
            setIsReloading(false);
            stackedToast({
              title: t("common.loadError"),
              description: messageOf(failure),
              destructive: true,
            });
          });
        }}
      />
      <ConfirmDialog
        open={leaveGuard.asking}
        onOpenChange={(open) => {
          if (!open) leaveGuard.stay();
        }}
        title={t("common.discardTitle")}
        question={t("settings.leaveQuestion")}
        cancelLabel={t("common.keepEditing")}
        confirmLabel={t("settings.leave")}
        onConfirm={() => {
          store(null);
          leaveGuard.leave();
        }}
      />
    </FormProvider>
  );
}

/** The form name of the first invalid field in the order of the page. */
function firstError(errors: FieldErrors<SettingsValues>): string {
  if (errors.name) return "name";
  for (const language of LANGUAGES) {
    const name = TEXT_NAMES.find((text) => errors.texts?.[language]?.[text]);
    if (name) return `texts.${language}.${name}`;
  }
  if (errors.commissions?.slots) return "commissions.slots";
  for (const language of LANGUAGES) {
    const name = COMMISSION_TEXT_NAMES.find(
      (text) => errors.commissions?.texts?.[language]?.[text],
    );
    if (name) return `commissions.texts.${language}.${name}`;
  }
  const section = PRIVACY_SECTIONS.find((name) => errors.privacy?.[name]);
  const plain = ["instagram", "facebook", "whatsapp", "email", "privacySince"] as const;
  return (
    plain.find((field) => errors[field]) ??
    // Not written as `privacy.${section}`, which locales.test.ts would treat as a text key.
    (section
      ? ["privacy", section].join(".")
      : errors.noticeEmail
        ? "noticeEmail"
        : "noticeWebhook")
  );
}
