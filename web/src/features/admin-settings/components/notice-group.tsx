import { Controller, useFormContext, useWatch } from "react-hook-form";
import { WebhookKey } from "@/features/admin-settings/components/webhook-key";
import type { SettingsValues } from "@/features/admin-settings/schema";
import { SelectField } from "@/components/form/select-field";
import { TextAreaField } from "@/components/form/text-area-field";
import { TextField } from "@/components/form/text-field";
import { AdminGroup } from "@/components/layout/admin-group";
import { MailTestButton } from "@/components/mail/mail-test-button";
import { NoMailServer } from "@/components/mail/no-mail-server";
import { Switch } from "@/components/ui/switch";
import { LANGUAGES } from "@/lib/constants";
import { useT } from "@/lib/i18n";
import { useMailServer } from "@/lib/mail-test";
import type { TextKey } from "@/lib/texts";

/**
 * The settings of notices (mails and webhook requests about new messages): recipients, language and webhook. Also the settings
 * of what the sender of a message gets: a thank-you mail, a private link to follow the message, and a copy by mail.
 */
export function NoticeGroup() {
  const t = useT();
  const { register, control, formState } = useFormContext<SettingsValues>();
  const mailServer = useMailServer(); // its data say whether a mail server is configured
  // Whether senders get private links. Copies contain the link, so there is no switch for copies without links.
  const links = useWatch({ control, name: "enquiryLinks" });
  const error = (name: "noticeEmail" | "noticeWebhook") => {
    const message = formState.errors[name]?.message;
    return message && t(message as TextKey);
  };
  return (
    <AdminGroup title={t("settings.group.notice")} intro={t("settings.noticeIntro")}>
      {mailServer.data === false ? <NoMailServer /> : !mailServer.isPending && <MailTestButton />}
      <div className="grid gap-x-7 gap-y-6 md:grid-cols-2">
        <TextAreaField
          label={t("settings.noticeEmail")}
          hint={t("settings.noticeEmailHint")}
          rows={3}
          autoCapitalize="off"
          spellCheck={false}
          error={error("noticeEmail")}
          {...register("noticeEmail")}
        />
        <SelectField
          label={t("settings.noticeLanguage")}
          hint={t("settings.noticeLanguageHint")}
          {...register("noticeLanguage")}
        >
          <option value="">{t("settings.noticeLanguageOwn")}</option>
          {LANGUAGES.map((language) => (
            <option key={language} value={language}>
              {t(`settings.language.${language}`)}
            </option>
          ))}
        </SelectField>
        <TextField
          label={t("settings.noticeWebhook")}
          optional
          hint={t("settings.noticeWebhookHint")}
          inputMode="url"
          autoCapitalize="off"
          spellCheck={false}
          error={error("noticeWebhook")}
          {...register("noticeWebhook")}
        />
        <WebhookKey />
      </div>
      {(
        ["thanksEnabled", "enquiryLinks", ...(links ? ["enquiryCopies" as const] : [])] as const
      ).map((name) => (
        <Controller
          key={name}
          name={name}
          control={control}
          render={({ field }) => (
            <Switch
              label={t(name === "thanksEnabled" ? "settings.thanks" : `settings.${name}`)}
              checked={field.value}
              onCheckedChange={field.onChange}
              className="max-w-[36em]"
            />
          )}
        />
      ))}
    </AdminGroup>
  );
}
