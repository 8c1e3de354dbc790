import { useEffect, useState } from "react";
import { useForm } from "react-hook-form";
import { useSaveReply } from "@/features/admin-messages/api/saved-replies";
import { NAME_PLACEHOLDER } from "@/features/admin-messages/saved-text";
import { FormFields } from "@/components/form/form-fields";
import { TextField } from "@/components/form/text-field";
import { TwoLanguages } from "@/components/form/two-languages";
import { Button } from "@/components/ui/button";
import { CONTACT_MESSAGE_MAX } from "@/lib/constants";
import { errorToast } from "@/lib/error-toast";
import { messageOf } from "@/lib/errors";
import { useT } from "@/lib/i18n";
import { stackedToast } from "@/lib/toast";
import type { SavedReply } from "@/lib/types";
import { randomUuid } from "@/lib/upload/file-name";

/** The maximum length of a title, in code points, as the server checks it. */
const TITLE_MAX = 300;

/** The values of the form. */
type Values = { title: string; text_en: string; text_pt: string };

/** The length of a text in code points. */
const codePointCount = (text: string) => Array.from(text).length;

/**
 * The form of a saved reply (a text that the owner inserts into replies). It changes `reply`, or adds a saved reply if `reply` is
 * missing. `onClose` is called after saving and by Cancel.
 */
export function SavedReplyForm({ reply, onClose }: { reply?: SavedReply; onClose(): void }) {
  const t = useT();
  const save = useSaveReply();
  // The id stays the same while the form is open, so that saving again adds no second reply.
  const [id] = useState(() => reply?.id ?? randomUuid());
  const form = useForm<Values>({
    defaultValues: {
      title: reply?.title ?? "",
      text_en: reply?.text_en ?? "",
      text_pt: reply?.text_pt ?? "",
    },
  });
  const { errors } = form.formState;
  const { setFocus } = form;
  useEffect(() => setFocus("title"), [setFocus]);

  /** Returns whether the values can be saved. If not, shows the error at the first invalid field. */
  function check({ title, text_en, text_pt }: Values): boolean {
    if (!title.trim() || codePointCount(title.trim()) > TITLE_MAX)
      form.setError("title", { message: t("messages.saved.error.title") }, { shouldFocus: true });
    else if (!text_en.trim() && !text_pt.trim())
      form.setError("text_en", { message: t("messages.saved.error.text") }, { shouldFocus: true });
    else if (codePointCount(text_en) > CONTACT_MESSAGE_MAX)
      form.setError("text_en", { message: t("messages.saved.error.long") }, { shouldFocus: true });
    else if (codePointCount(text_pt) > CONTACT_MESSAGE_MAX)
      form.setError("text_pt", { message: t("messages.saved.error.long") }, { shouldFocus: true });
    else return true;
    return false;
  }

  function submit(values: Values) {
    if (!check(values)) return;
    const texts = {
      title: values.title.trim(),
      text_en: values.text_en.trim() || null,
      text_pt: values.text_pt.trim() || null,
    };
    // The toasts are always shown. `onClose` is not called if another form is open by then.
    save.mutateAsync({ id, isNew: !reply, texts }, { onSuccess: onClose }).then(
      () => stackedToast({ title: t("messages.saved.toast.saved") }),
      (error: unknown) => errorToast(t, messageOf(error)),
    );
  }

  return (
    <form
      noValidate
      aria-label={reply ? reply.title : t("messages.saved.add")}
      onSubmit={(event) => void form.handleSubmit(submit)(event)}
      className="grid max-w-[60rem] gap-6 py-5"
    >
      <FormFields saving={save.isPending} className="grid gap-6">
        <TextField
          label={t("messages.saved.name")}
          hint={t("messages.saved.nameHint")}
          required
          error={errors.title?.message}
          {...form.register("title")}
        />
        <TwoLanguages
          form={form}
          names={{ en: "text_en", pt: "text_pt" }}
          label={t("messages.saved.text")}
          hint={t("messages.saved.textHint", { placeholder: NAME_PLACEHOLDER })}
          rows={7}
          errors={{ en: errors.text_en?.message, pt: errors.text_pt?.message }}
        />
      </FormFields>
      <div className="flex flex-wrap gap-3">
        <Button type="submit" size="sm" loading={save.isPending}>
          {t("common.save")}
        </Button>
        <Button variant="outline" size="sm" onClick={onClose}>
          {t("common.cancel")}
        </Button>
      </div>
    </form>
  );
}
