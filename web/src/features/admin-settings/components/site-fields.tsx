import { useFormContext } from "react-hook-form";
import type { FieldsProps } from "@/features/admin-settings/components/settings-form";
import { TextSetting } from "@/features/admin-settings/components/text-setting";
import { WhatsAppFields } from "@/features/admin-settings/components/whatsapp-fields";
import { TEXT_KEYS, type SettingsValues, type TextName } from "@/features/admin-settings/schema";
import { MissingFiles } from "@/components/form/missing-files";
import { TextField } from "@/components/form/text-field";
import { SingleImageField } from "@/components/upload/single-image-field";
import { useT } from "@/lib/i18n";
import type { TextKey } from "@/lib/texts";

// The fields of the settings that both the settings page and the first-run guide show. In the guide, the owner of a new site replaces
// the values that the site starts with.

/** Names of the form fields whose text is the same in both languages. */
type SingleTextName = "name" | "instagram" | "facebook" | "whatsapp" | "email";

/** Returns a function that returns the error text of a field; undefined if the field is valid. */
function useErrorText() {
  const t = useT();
  const { formState } = useFormContext<SettingsValues>();
  return (name: SingleTextName) => {
    const message = formState.errors[name]?.message;
    return message && t(message as TextKey); // the messages of the form's schema are text keys
  };
}

/** The field of the site's name. */
export function NameField() {
  const t = useT();
  const { register } = useFormContext<SettingsValues>();
  const errorText = useErrorText();
  return (
    <TextField
      label={t("settings.name")}
      required
      error={errorText("name")}
      className="max-w-[28em]"
      {...register("name")}
    />
  );
}

/**
 * The field of the artist's portrait. `portrait` is the upload queue of its file. Shows an error if the server has refused to save the
 * portrait.
 */
export function PortraitField({
  portrait,
  isPortraitRefused,
}: Pick<FieldsProps, "portrait" | "isPortraitRefused">) {
  const t = useT();
  return (
    <div>
      <SingleImageField label={t("settings.portrait")} optional queue={portrait} />
      <MissingFiles names={portrait.missing} className="mt-2" />
      {isPortraitRefused && (
        <p className="text-danger mt-[5px] text-sm leading-[1.4] font-[520]">
          {t("settings.error.portrait")}
        </p>
      )}
    </div>
  );
}

type TextFieldsProps = {
  /** The texts to show, each with the height of its text areas in lines. 0 means that the text has inputs of one line. */
  rows: Partial<Record<TextName, number>>;
  /** The stored settings. If given, each text that still has its seed value (with which a new site starts) gets a hint. */
  stored?: FieldsProps["base"];
};

/** The fields of some texts in both languages. */
export function TextFields({ rows, stored }: TextFieldsProps) {
  const t = useT();
  return (Object.keys(rows) as TextName[]).map((name) => (
    <TextSetting
      key={name}
      label={t(`settings.text.${name}`)}
      pathOf={(language) => `texts.${language}.${name}`}
      rows={rows[name]}
      hintOf={(language, text) =>
        stored?.seed.includes(`site.texts.${language}.${TEXT_KEYS[name]}`) &&
        text === stored.settings.site.texts[language][TEXT_KEYS[name]]
          ? t("guide.seedField")
          : undefined
      }
    />
  ));
}

/** The fields of the owner's contact channels: social profiles, WhatsApp and email. */
export function LinkFields({ base }: Pick<FieldsProps, "base">) {
  const t = useT();
  const { register } = useFormContext<SettingsValues>();
  const errorText = useErrorText();
  return (
    <div className="grid gap-x-7 gap-y-6 md:grid-cols-2">
      <TextField
        label="Instagram"
        hint={t("settings.profileHint")}
        error={errorText("instagram")}
        autoCapitalize="off"
        spellCheck={false}
        {...register("instagram")}
      />
      <TextField
        label="Facebook"
        hint={t("settings.profileHint")}
        error={errorText("facebook")}
        autoCapitalize="off"
        spellCheck={false}
        {...register("facebook")}
      />
      <WhatsAppFields stored={base.settings.site.whatsapp ?? ""} error={errorText("whatsapp")} />
      <TextField
        label={t("settings.email")}
        hint={t("settings.emailHint")}
        type="email"
        error={errorText("email")}
        {...register("email")}
      />
    </div>
  );
}
