import { useState } from "react";
import { useFormContext } from "react-hook-form";
import { CalendarAddress } from "@/features/admin-settings/components/calendar-address";
import { CommissionsGroup } from "@/features/admin-settings/components/commissions-group";
import { GalleryGroup } from "@/features/admin-settings/components/gallery-group";
import { NoticeGroup } from "@/features/admin-settings/components/notice-group";
import {
  PreviewDialog,
  type PreviewComponent,
} from "@/features/admin-settings/components/preview-dialog";
import type { FieldsProps, FormState } from "@/features/admin-settings/components/settings-form";
import {
  LinkFields,
  NameField,
  PortraitField,
  TextFields,
} from "@/features/admin-settings/components/site-fields";
import { ResponseTimeField } from "@/features/admin-settings/components/response-time-field";
import { RetentionField } from "@/features/admin-settings/components/retention-field";
import { pageSite } from "@/features/admin-settings/page-site";
import type { SettingsValues } from "@/features/admin-settings/schema";
import { DateField } from "@/components/form/date-field";
import { TextAreaField } from "@/components/form/text-area-field";
import { AdminGroup } from "@/components/layout/admin-group";
import { Button } from "@/components/ui/button";
import type { SiteTexts } from "@/lib/boot";
import { useT } from "@/lib/i18n";
import { PRIVACY_SECTIONS } from "@/lib/privacy-sections";
import type { TextKey } from "@/lib/texts";
import type { MeasuredResponse } from "@/lib/types";

// The texts of two groups (about the artist, and what the site claims and promises), with the height of their text areas in lines.
// A text with the height 0 has inputs of one line. `description2` is the second paragraph. TEXT_KEYS in schema.ts has all names.
const ABOUT_TEXT_ROWS = { title: 0, description: 5, description2: 5, portraitAlt: 0 };
const CLAIM_TEXT_ROWS = { trustedBy: 0, responseTime: 0, thanks: 3 };

/**
 * The fields of the settings page, in groups with titles. `base` has the stored settings. `portrait` is the upload queue of the
 * artist's portrait. `isPortraitRefused` says whether the server has refused to save this portrait.
 */
export function SettingsGroups({ base, portrait, isPortraitRefused }: FieldsProps) {
  const t = useT();
  const { register, formState } = useFormContext<SettingsValues>();
  const { errors } = formState;
  // The error messages of the form are text keys.
  const errorText = (message: string | undefined) => message && t(message as TextKey);
  return (
    <>
      <AdminGroup title={t("settings.group.name")}>
        <NameField />
        <PortraitField portrait={portrait} isPortraitRefused={isPortraitRefused} />
      </AdminGroup>

      <AdminGroup title={t("settings.group.about")} intro={t("settings.bothIntro")}>
        <TextFields rows={ABOUT_TEXT_ROWS} />
      </AdminGroup>

      <AdminGroup title={t("settings.group.claims")} intro={t("settings.claimsIntro")}>
        <TextFields rows={CLAIM_TEXT_ROWS} />
        {/* Chooses whether visitors read the owner's text about the response time or the measured time. */}
        <ResponseTimeField measured={base.response} />
      </AdminGroup>

      <CommissionsGroup>
        <CalendarAddress />
      </CommissionsGroup>

      <GalleryGroup />

      <AdminGroup title={t("settings.group.links")} intro={t("settings.linksIntro")}>
        <LinkFields base={base} />
      </AdminGroup>

      <AdminGroup title={t("settings.group.privacy")} intro={t("settings.privacyIntro")}>
        <div className="grid gap-x-7 gap-y-6 md:grid-cols-2">
          <DateField
            label={t("settings.privacySince")}
            hint={t("settings.privacySinceHint")}
            error={errorText(errors.privacySince?.message)}
            {...register("privacySince")}
          />
          <RetentionField stored={base.settings.site.messageMonths ?? 0} />
        </div>
        <div className="grid gap-x-7 gap-y-6 md:grid-cols-2">
          {PRIVACY_SECTIONS.map((section) => (
            <TextAreaField
              key={section}
              lang="pt"
              label={t(`privacy.${section}.title`)}
              rows={4}
              error={errorText(errors.privacy?.[section]?.message)}
              {...register(`privacy.${section}`)}
            />
          ))}
        </div>
      </AdminGroup>

      <NoticeGroup />
    </>
  );
}

type SettingsFooterProps = {
  state: FormState;
  preview: PreviewComponent;
  measured: MeasuredResponse | undefined;
};

/** The sticky footer of the settings page with the preview and save buttons. */
export function SettingsFooter({ state, preview, measured }: SettingsFooterProps) {
  const t = useT();
  const { next, hasChanges, uploading, saving } = state;
  const [previewedSite, setPreviewedSite] = useState<SiteTexts | null>(null);
  return (
    <>
      <div
        data-sticky-foot
        className="bg-page border-line sticky bottom-0 z-10 mt-12 flex flex-wrap items-center justify-end gap-x-3 gap-y-2 border-t py-4"
      >
        <p role="status" className="text-ink2 mr-auto text-sm max-sm:basis-full">
          {hasChanges ? t("common.discardTitle") : t("settings.allSaved")}
        </p>
        <Button
          variant="outline"
          size="sm"
          onClick={() => setPreviewedSite(pageSite(next.site, measured))}
        >
          {t("settings.preview")}
        </Button>
        <Button type="submit" size="sm" disabled={uploading || !hasChanges} loading={saving}>
          {saving ? t("common.saving") : t("common.saveChanges")}
        </Button>
      </div>
      <PreviewDialog
        site={previewedSite}
        preview={preview}
        onClose={() => setPreviewedSite(null)}
      />
    </>
  );
}
