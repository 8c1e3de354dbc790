import { useEffect, useId, useRef, useState } from "react";
import { useSortable } from "@dnd-kit/sortable";
import { CSS } from "@dnd-kit/utilities";
import { zodResolver } from "@hookform/resolvers/zod";
import { Eye, History, Trash2 } from "lucide-react";
import { useForm } from "react-hook-form";
import { useDeleteCover } from "@/features/admin-covers/api/delete-cover";
import {
  useUndoCoverChange,
  useUpdateCover,
  type SavedCoverChange,
} from "@/features/admin-covers/api/update-cover";
import { CoverPreviewDialog } from "@/features/admin-covers/components/cover-preview-dialog";
import { CoverPreview } from "@/features/admin-covers/components/cover-preview";
import { CoverTexts } from "@/features/admin-covers/components/cover-texts";
import { DragHandle } from "@/features/admin-covers/components/drag-handle";
import { PhaseBadge } from "@/features/admin-covers/components/phase-badge";
import { PictureFromWorkButton } from "@/features/admin-covers/components/picture-from-work";
import { ScheduleFields } from "@/features/admin-covers/components/schedule-fields";
import { historyDifferences } from "@/features/admin-covers/history-differences";
import { phaseOf, TIME_COLUMNS, timeForComparison } from "@/features/admin-covers/schedule";
import {
  coverChange,
  coverKind,
  coverSchema,
  formValues,
  type CoverChange,
  type CoverValues,
} from "@/features/admin-covers/schema";
import { textLabels } from "@/features/admin-covers/text-labels";
import { DraftNotice } from "@/components/form/draft-notice";
import { TextField } from "@/components/form/text-field";
import { RowHistory } from "@/components/history/row-history";
import { Button } from "@/components/ui/button";
import { ConflictDialog, type Difference } from "@/components/ui/conflict-dialog";
import { DeleteDialog } from "@/components/ui/delete-dialog";
import { IconButton } from "@/components/ui/icon-button";
import { Switch } from "@/components/ui/switch";
import { MediaState } from "@/components/upload/media-state";
import { StillButton } from "@/components/upload/still-button";
import { useUploader } from "@/components/upload/use-uploader";
import { errorToast } from "@/lib/error-toast";
import { BUCKETS, COVER_ORDER_MIN } from "@/lib/constants";
import { useFormDraft } from "@/lib/editing/use-form-draft";
import { useSave } from "@/lib/editing/use-save";
import { useUndo } from "@/lib/editing/use-undo";
import { messageOf } from "@/lib/errors";
import { useRestoreVersion } from "@/lib/history/use-restore-version";
import { useLanguage, type Translate } from "@/lib/i18n";
import { localText } from "@/lib/local-text";
import type { TextKey } from "@/lib/texts";
import { stackedToast } from "@/lib/toast";
import type { CoverImage } from "@/lib/types";
import { cn } from "@/lib/cn";

// This file renders the card of a cover (a large picture or video at the top of the home page) on the admin page of the covers.
// The owner edits, hides, previews and deletes the cover there, and opens its history.

/** The unsaved form as the browser stores it. `base` is the version of the row that the owner's changes are based on. */
type Draft = { base: CoverImage; values: CoverValues };
/** A save of the form. `values` are the values that the form had, and `change` has the fields to save. */
type SaveRequest = Draft & { change: CoverChange };

type CoverCardProps = {
  cover: CoverImage;
  /** The name under which the browser stores the form's draft (its unsaved values). */
  draftName: string;
  /** Object URL of the picture, or of a video's still, if the cover was added on this page. */
  preview?: string | null;
};

/** The card of a cover, with the form of its visibility, its texts and its number in the order. */
export function CoverCard({ cover, draftName, preview }: CoverCardProps) {
  const { language, t } = useLanguage();
  const id = useId();
  const sortable = useSortable({ id: cover.id });
  const [isDeleteOpen, setIsDeleteOpen] = useState(false);
  const [isPreviewOpen, setIsPreviewOpen] = useState(false);
  const [isHistoryOpen, setIsHistoryOpen] = useState(false);
  const { undoDeletion } = useRestoreVersion("cover_images");
  const visibilityUpdate = useUpdateCover();
  const { mutateAsync: update } = useUpdateCover();
  const { mutateAsync: revert } = useUndoCoverChange();
  const undoButton = useUndo();
  const { mutateAsync: remove } = useDeleteCover();
  const { uploadStill } = useUploader(BUCKETS.covers);
  const form = useForm<CoverValues>({
    resolver: zodResolver(coverSchema),
    // After a refetch the form shows the new values, except in fields that the owner has changed.
    values: formValues(cover),
    resetOptions: { keepDirtyValues: true },
    mode: "onSubmit",
    reValidateMode: "onChange",
  });

  const { register, handleSubmit, watch, reset, setValue, formState } = form;
  const {
    draft: storedDraft,
    restored: draftSavedAt,
    clearRestored,
    store,
  } = useFormDraft<Draft>(draftName);
  // The version of the row that the owner's changes are based on.
  const base = useRef(storedDraft?.base ?? cover);
  // True until the effect below has put the values of the stored draft into the form.
  const isRestoring = useRef(storedDraft !== undefined);
  useEffect(() => {
    if (!storedDraft) return;
    const unchanged = formValues(storedDraft.base);
    // Sets only the fields that the owner has changed: the row may have newer values in the others.
    for (const [key, value] of Object.entries(storedDraft.values)) {
      const name = key as keyof CoverValues;
      if (value !== unchanged[name]) setValue(name, value, { shouldDirty: true });
    }
  }, [storedDraft, setValue]);

  const name = cover.title || t("gallery.untitled");
  // Whether the cover is visible on the site. While the switch is being saved, its new value.
  const isActive = visibilityUpdate.isPending
    ? visibilityUpdate.variables.change.is_active === true
    : cover.is_active;
  const isShown = isActive && phaseOf(cover) === "current";
  const values = watch();
  const hasChanges = Object.keys(coverChange(cover, values)).length > 0;
  // Stores the changed values as the draft.
  useEffect(() => {
    if (isRestoring.current) {
      isRestoring.current = false; // `values` has the restored values from the next render on
      return;
    }
    // After the first edit the base stays, even if a newer row is fetched, so that a save detects the conflict.
    if (!hasChanges) base.current = cover;
    store(hasChanges ? { base: base.current, values } : null);
  });
  const orderError = formState.errors.display_order?.message as TextKey | undefined;
  const untilError = formState.errors.visible_until?.message as TextKey | undefined;

  const toasts = {
    onSuccess: (saved: SavedCoverChange) =>
      stackedToast({
        title: t("covers.toast.updated"),
        action: undoButton(() => revert(saved)),
      }),
    onError: (error: unknown) => errorToast(t, messageOf(error)),
  };

  const {
    run: saveChanges,
    conflict,
    saving,
    dismissConflict,
  } = useSave<SaveRequest, SavedCoverChange>({
    save: (request) => update(request),
    onSaved: (saved, { values: sent }) => {
      const typed = form.getValues();
      const stored = saved.fields ? formValues(saved.fields.row) : sent;
      // The server's number, because a number beyond the last one moves the cover to the end.
      const order = String(saved.number ?? sent.display_order);
      reset({ ...stored, display_order: order }, { keepDirtyValues: false });
      // What was typed while the save ran becomes an unsaved change of the saved row.
      if (saved.fields) base.current = saved.fields.row;
      for (const field of Object.keys(typed) as (keyof CoverValues)[]) {
        if (typed[field] !== sent[field]) setValue(field, typed[field], { shouldDirty: true });
      }
      clearRestored();
      toasts.onSuccess(saved);
    },
    onFailed: toasts.onError,
  });

  return (
    <li
      ref={sortable.setNodeRef}
      style={{ transform: CSS.Translate.toString(sortable.transform) }}
      aria-labelledby={id}
      className={cn(
        "bg-shade @container relative rounded-sm border-b-8 transition-colors duration-200",
        isShown ? "border-band" : "border-edge",
        sortable.isDragging && "pop-shadow outline-indigo z-10 outline-3 -outline-offset-3",
      )}
    >
      <h2 id={id} className="sr-only">
        {name}
      </h2>
      <CoverPreview cover={{ ...cover, is_active: isShown }} preview={preview} />
      <DragHandle name={name} sortable={sortable} />
      <PictureFromWorkButton cover={cover} name={name} />
      <MediaState info={cover.media?.[cover.image_url]} className="px-5 pt-3" />
      <form
        noValidate
        className="px-5 pt-4 pb-4.5 [&_label]:mb-1.5"
        onSubmit={(event) => {
          if (!hasChanges || saving) event.preventDefault();
          else
            void handleSubmit((now) =>
              saveChanges({
                base: base.current,
                change: coverChange(cover, now),
                values: form.getValues(),
              }),
            )(event);
        }}
      >
        {draftSavedAt && hasChanges && (
          <DraftNotice
            savedAt={draftSavedAt}
            className="mb-2"
            onDiscard={() => {
              reset(formValues(cover), { keepDirtyValues: false });
              clearRestored();
            }}
          />
        )}
        <Switch
          className="[&_label]:mb-0!"
          label={t(isActive ? "covers.active" : "covers.inactive")}
          checked={isActive}
          onCheckedChange={(next) => {
            if (!visibilityUpdate.isPending)
              visibilityUpdate
                .mutateAsync({ base: cover, change: { is_active: next } })
                .then(toasts.onSuccess, toasts.onError);
          }}
        />
        <PhaseBadge cover={cover} />
        <div className="mt-3 grid gap-y-5">
          <CoverTexts form={form} />
          <TextField
            // Wider while it shows an error.
            className={orderError ? "sm:w-[190px]" : "sm:w-[92px]"}
            label={t("covers.order")}
            type="number"
            inputMode="numeric"
            min={COVER_ORDER_MIN}
            step={1}
            error={orderError && t(orderError)}
            {...register("display_order")}
          />
        </div>
        <ScheduleFields
          register={register}
          untilError={untilError && t(untilError)}
          hasTimes={TIME_COLUMNS.some((column) => values[column] !== "")}
        />
        <div className="mt-4 flex flex-wrap items-center gap-2">
          <Button
            variant="ghost"
            size="sm"
            className="text-danger! -ml-2 px-3"
            onClick={() => setIsDeleteOpen(true)}
          >
            <Trash2 aria-hidden="true" size={20} strokeWidth={1.5} />
            {/* Narrow cards show only the icon, so that the buttons fit into one row. */}
            <span className={coverKind(cover) === "video" ? "@max-sm:sr-only" : "@max-xs:sr-only"}>
              {t("common.delete")}
            </span>
          </Button>
          <Button variant="ghost" size="sm" className="px-3" onClick={() => setIsPreviewOpen(true)}>
            <Eye aria-hidden="true" size={20} strokeWidth={1.5} />
            <span className="@max-md:sr-only">{t("covers.preview")}</span>
          </Button>
          <IconButton
            size="iconSm"
            variant="ghost"
            label={t("history.ofNamed", { name })}
            onClick={() => setIsHistoryOpen(true)}
          >
            <History aria-hidden="true" size={20} strokeWidth={1.5} />
          </IconButton>
          {/* Replaces the still of a video: the picture that is shown until the video plays. */}
          {coverKind(cover) === "video" && (
            <span className="flex w-11">
              <StillButton videoUrl={cover.image_url} upload={uploadStill} />
            </span>
          )}
          <Button
            type="submit"
            size="sm"
            className="ml-auto"
            disabled={!hasChanges}
            loading={saving}
          >
            {saving ? t("common.saving") : t("common.save")}
          </Button>
        </div>
      </form>
      <DeleteDialog
        item={isDeleteOpen ? cover : null}
        title={t("covers.deleteTitle")}
        question={t("covers.deleteConfirm")}
        deleted={t("covers.toast.deleted")}
        failed={messageOf}
        remove={remove}
        undo={() => undoDeletion(name, cover.id)}
        onClose={() => setIsDeleteOpen(false)}
      />
      <RowHistory
        table="cover_images"
        row={isHistoryOpen ? cover : null}
        nameOf={() => name}
        differences={(before, now) => historyDifferences(before, now, t)}
        onClose={() => setIsHistoryOpen(false)}
      />
      <CoverPreviewDialog
        cover={{
          ...cover,
          title: localText(language, values.title, values.title_pt).text,
          description: localText(language, values.description, values.description_pt).text,
        }}
        open={isPreviewOpen}
        onClose={() => setIsPreviewOpen(false)}
      />
      <ConflictDialog
        open={conflict !== null}
        differences={
          conflict ? conflictDifferences(conflict.newer, conflict.request.change, t) : []
        }
        onLoadNewer={() => {
          if (!conflict) return;
          reset(formValues(conflict.newer), { keepDirtyValues: false });
          dismissConflict();
        }}
        onOverwrite={() => {
          if (conflict) void saveChanges({ ...conflict.request, base: conflict.newer });
        }}
        onKeepEditing={dismissConflict}
        busy={saving}
      />
    </li>
  );
}

/** The changed texts beside those of the newer row. */
function conflictDifferences(newer: CoverImage, change: CoverChange, t: Translate): Difference[] {
  const labels = {
    ...textLabels(t),
    visible_from: t("covers.visibleFrom"),
    visible_until: t("covers.visibleUntil"),
  };
  return (Object.keys(labels) as (keyof typeof labels)[])
    .filter((field) => field in change)
    .map((field) => {
      const textOf = (values: CoverChange) =>
        field === "visible_from" || field === "visible_until"
          ? timeForComparison(values[field])
          : (values[field] ?? "");
      return { label: labels[field], theirs: textOf(newer), mine: textOf(change) };
    });
}
