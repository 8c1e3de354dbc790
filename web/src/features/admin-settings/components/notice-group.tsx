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
 * The fields of the settings page for notices and for the senders of messages. Notices are mails and webhook requests about new
 * messages: the owner sets recipients, language and webhook. Switches set what the sender of a message gets: a thank-you mail, a
 * private link (the URL at which the sender follows the message), and a copy of the message by mail.
 */
export function NoticeGroup() {
  const t = useT();
  const { register, control, formState } = useFormContext<SettingsValues>();
  const mailServer = useMailServer(); // `data` is whether a mail server is configured
  // Whether senders get private links. Copies contain the link, so without links there is no switch for copies.
  const hasLinks = useWatch({ control, name: "enquiryLinks" });
  const errorText = (name: "noticeEmail" | "noticeWebhook") => {
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
          error={errorText("noticeEmail")}
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
          error={errorText("noticeWebhook")}
          {...register("noticeWebhook")}
        />
        <WebhookKey />
      </div>
      {(
        ["thanksEnabled", "enquiryLinks", ...(hasLinks ? ["enquiryCopies" as const] : [])] as const
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
