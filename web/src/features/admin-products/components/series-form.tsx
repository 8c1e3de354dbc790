import { useEffect, useRef, useState } from "react";
import { zodResolver } from "@hookform/resolvers/zod";
import { Controller, useForm, useWatch } from "react-hook-form";
import { useChangeSeries, useSeriesList } from "@/features/admin-products/api/series";
import {
  freeSlug,
  initialSeriesState,
  seriesDifferences,
  seriesPayload,
  seriesSchema,
  slugOf,
  type SeriesFormState,
  type SeriesPayload,
  type SeriesValues,
} from "@/features/admin-products/series-schema";
import { FormFields } from "@/components/form/form-fields";
import { TextField } from "@/components/form/text-field";
import { TwoLanguages } from "@/components/form/two-languages";
import { Button } from "@/components/ui/button";
import { ConflictDialog } from "@/components/ui/conflict-dialog";
import { Switch } from "@/components/ui/switch";
import type { DraftFormProps } from "@/lib/editing/use-draft-dialog";
import { useReportChanges } from "@/lib/editing/use-form-draft";
import { useSave } from "@/lib/editing/use-save";
import { useT } from "@/lib/i18n";
import type { TextKey } from "@/lib/texts";
import { stackedToast } from "@/lib/toast";
import type { Series } from "@/lib/types";
import { UNIQUE_VIOLATION } from "@/lib/unique-violation";
import { randomUuid } from "@/lib/upload/file-name";

/** A save of the form. `payload` is what it writes. `base` is the version of the row that the owner has changed; null for a new series. */
type SaveRequest = { base: Series | null; payload: SeriesPayload };

type SeriesFormProps = DraftFormProps<SeriesFormState> & {
  /** Called with the id of a new series that was saved. */
  onCreated(id: string): void;
};

/**
 * The form of a new or existing series (works that the owner shows together): its texts, its slug (its name in URLs), and whether
 * visitors see it. The form reports unsaved values, which become its draft. If the series was changed elsewhere since the form opened,
 * saving is a conflict, and the form opens a dialog.
 */
export function SeriesForm({
  start, // the state with which the form starts
  onChanged, // stores the unsaved state as the draft; null deletes the draft
  onLoadNewer, // after a conflict: opens the dialog again with the newer version of the series
  onCancel, // closes the dialog; asks first if something is unsaved
  onSaved, // closes the dialog after a successful save
  onCreated,
}: SeriesFormProps) {
  const t = useT();
  const { series } = start;
  // The id that a new series gets. All attempts to save use the same id, so that a retry adds no second series.
  const [newId] = useState(() => start.newId ?? randomUuid());
  const { create, update } = useChangeSeries();
  const { data: allSeries = [] } = useSeriesList();
  // The form's own slug is not taken. A new series can be in the list if an earlier attempt inserted it, but the response was lost.
  const ownId = series?.id ?? newId;
  const takenSlugs = allSeries.filter(({ id }) => id !== ownId).map(({ slug }) => slug);
  const form = useForm<SeriesValues>({
    resolver: zodResolver(seriesSchema(takenSlugs)),
    defaultValues: start.values,
    mode: "onChange",
  });
  const { register, control, handleSubmit, formState, getValues, setValue, setError } = form;
  const { errors } = formState;
  const save = useSave<SaveRequest, string | null>({
    save: async ({ base, payload }) => {
      if (base) {
        await update(base, payload);
        return null;
      }
      await create(newId, payload);
      return newId;
    },
    onSaved: (created) => {
      stackedToast({ title: t(created ? "series.toast.added" : "series.toast.updated") });
      onSaved();
      if (created) onCreated(created);
    },
    onFailed: (error) => {
      if ((error as { code?: string }).code === UNIQUE_VIOLATION) {
        setError("slug", { message: "series.slugTaken" }, { shouldFocus: true });
      } else {
        stackedToast({ title: t("series.toast.failed"), destructive: true });
      }
    },
  });
  const { conflict, saving } = save;

  const hasChanges = start.unsaved || formState.isDirty;
  useReportChanges(form, () =>
    onChanged(hasChanges ? { ...start, newId, values: getValues(), unsaved: true } : null),
  );

  const errorOf = (name: keyof SeriesValues) => {
    const key = errors[name]?.message as TextKey | undefined;
    return key && t(key);
  };
  // A new series has a slug made from its title, until the owner writes another slug.
  const title = useWatch({ control, name: "title" });
  const lastTitle = useRef(title);
  const automaticSlug = useRef(freeSlug(slugOf(title), takenSlugs));
  useEffect(() => {
    if (title === lastTitle.current) return;
    lastTitle.current = title;
    if (series || getValues("slug") !== automaticSlug.current) return;
    automaticSlug.current = freeSlug(slugOf(title), takenSlugs);
    setValue("slug", automaticSlug.current, { shouldValidate: true });
  }, [title, series, takenSlugs, getValues, setValue]);

  return (
    <form
      noValidate
      className="mt-6 grid gap-5"
      onSubmit={(event) =>
        void handleSubmit((values) => save.run({ base: series, payload: seriesPayload(values) }))(
          event,
        )
      }
    >
      <FormFields saving={saving} className="grid gap-x-7 gap-y-5 md:grid-cols-2">
        <div className="grid gap-y-5 md:col-span-2">
          <TwoLanguages
            form={form}
            names={{ en: "title", pt: "title_pt" }}
            label={t("series.title")}
            required
            optional
            maxLength={300}
            errors={{ en: errorOf("title") }}
          />
          <TwoLanguages
            form={form}
            names={{ en: "text", pt: "text_pt" }}
            label={t("series.text")}
            optional
            rows={5}
            maxLength={20_000}
          />
        </div>
        <TextField
          label={t("series.slug")}
          hint={t("series.slugHint")}
          required
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          error={errorOf("slug")}
          {...register("slug")}
        />
        <Controller
          control={control}
          name="is_published"
          render={({ field }) => (
            <Switch
              label={t("series.published")}
              checked={field.value}
              onCheckedChange={field.onChange}
              className="self-start md:mt-7"
            />
          )}
        />
      </FormFields>
      <div className="mt-1 flex justify-end gap-2">
        <Button variant="ghost" size="sm" onClick={onCancel} disabled={saving}>
          {t("common.cancel")}
        </Button>
        <Button type="submit" size="sm" loading={saving}>
          {saving ? t("common.saving") : t(series ? "common.saveChanges" : "series.add")}
        </Button>
      </div>
      <ConflictDialog
        open={conflict !== null}
        differences={
          conflict
            ? seriesDifferences(conflict.newer, conflict.request.payload, t).map(
                ({ label, before, now }) => ({ label, theirs: before, mine: now }),
              )
            : []
        }
        onLoadNewer={() => {
          if (conflict) onLoadNewer(initialSeriesState(conflict.newer));
        }}
        onOverwrite={() => {
          if (conflict) void save.run({ ...conflict.request, base: conflict.newer });
        }}
        onKeepEditing={save.dismissConflict}
        busy={saving}
      />
    </form>
  );
}
