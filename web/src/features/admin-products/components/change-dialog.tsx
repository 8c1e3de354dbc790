import { useState, type FormEvent } from "react";
import { DateField } from "@/components/form/date-field";
import { SelectField } from "@/components/form/select-field";
import { TextField } from "@/components/form/text-field";
import { Button } from "@/components/ui/button";
import { DialogClose, DialogContent, DialogRoot, DialogTitle } from "@/components/ui/dialog";
import type { WorkValues } from "@/features/admin-products/api/change-products";
import { parseTags } from "@/features/admin-products/schema";
import { ARTWORK_TYPES } from "@/lib/constants";
import { useT } from "@/lib/i18n";
import type { ArtworkType } from "@/lib/types";

type ChangeDialogProps = {
  open: boolean;
  /** Called on submit with the fields that the owner has filled in. Not called if all fields are empty. */
  onSave(values: WorkValues): void;
  onClose(): void;
};

/**
 * A dialog in which the owner changes type, medium, date and tags of all selected works at once. A field that is left empty changes
 * nothing.
 */
export function ChangeDialog({ open, onSave, onClose }: ChangeDialogProps) {
  const t = useT();
  return (
    <DialogRoot
      open={open}
      onOpenChange={(isOpen) => {
        if (!isOpen) onClose();
      }}
    >
      <DialogContent className="max-w-[560px] p-6 sm:p-8">
        <DialogTitle className="pr-12 text-[1.75rem] leading-tight font-[310]">
          {t("wall.changeTitle")}
        </DialogTitle>
        <ChangeForm onSave={onSave} onClose={onClose} />
        <DialogClose className="top-2.5 right-2" />
      </DialogContent>
    </DialogRoot>
  );
}

/** The form of the dialog. It is a separate component, so that it mounts, with empty fields, each time the dialog opens. */
function ChangeForm({ onSave, onClose }: Pick<ChangeDialogProps, "onSave" | "onClose">) {
  const t = useT();
  const [type, setType] = useState<ArtworkType | "">("");
  const [medium, setMedium] = useState("");
  const [portugueseMedium, setPortugueseMedium] = useState("");
  const [date, setDate] = useState("");
  const [tags, setTags] = useState("");
  const values: WorkValues = {};
  if (type) values.artwork_type = type;
  if (medium.trim()) values.medium = medium.trim();
  if (portugueseMedium.trim()) values.medium_pt = portugueseMedium.trim();
  if (date) values.creation_date = date;
  if (parseTags(tags).length > 0) values.tags = parseTags(tags);

  function submit(event: FormEvent) {
    event.preventDefault();
    if (Object.keys(values).length > 0) onSave(values);
    onClose();
  }

  return (
    <form onSubmit={submit} className="mt-2">
      <p className="text-ink2 text-sm">{t("wall.changeIntro")}</p>
      <div className="mt-5 grid gap-5">
        <SelectField
          label={t("products.type")}
          value={type}
          onChange={(event) => setType(event.target.value as ArtworkType | "")}
        >
          <option value="">{t("bulk.keepTypes")}</option>
          {ARTWORK_TYPES.map((choice) => (
            <option key={choice} value={choice}>
              {t(`type.${choice}`)}
            </option>
          ))}
        </SelectField>
        <TextField
          label={t("gallery.medium")}
          value={medium}
          maxLength={200}
          onChange={(event) => setMedium(event.target.value)}
        />
        <TextField
          lang="pt"
          label={t("form.inPortuguese", { label: t("gallery.medium") })}
          value={portugueseMedium}
          maxLength={200}
          onChange={(event) => setPortugueseMedium(event.target.value)}
        />
        <DateField
          label={t("gallery.creationDate")}
          value={date}
          onChange={(event) => setDate(event.target.value)}
        />
        <TextField
          label={t("products.tags")}
          hint={t("wall.tagsHint")}
          value={tags}
          onChange={(event) => setTags(event.target.value)}
        />
      </div>
      <div className="mt-7 flex justify-end gap-3">
        <Button type="button" variant="outline" onClick={onClose}>
          {t("common.cancel")}
        </Button>
        <Button type="submit">{t("common.saveChanges")}</Button>
      </div>
    </form>
  );
}
