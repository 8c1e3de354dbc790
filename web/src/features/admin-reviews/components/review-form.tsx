import { useCallback } from "react";
import { zodResolver } from "@hookform/resolvers/zod";
import { useForm } from "react-hook-form";
import { useCreateReview } from "@/features/admin-reviews/api/create-review";
import { useUpdateReview } from "@/features/admin-reviews/api/update-review";
import {
  reviewPayload,
  reviewSchema,
  reviewWords,
  initialState,
  type ReviewStart,
  type ReviewValues,
  type ReviewWords,
} from "@/features/admin-reviews/schema";
import { MissingFiles } from "@/components/form/missing-files";
import { TextAreaField } from "@/components/form/text-area-field";
import { TextField } from "@/components/form/text-field";
import { Button } from "@/components/ui/button";
import { ConflictDialog, type Difference } from "@/components/ui/conflict-dialog";
import { SingleImageField } from "@/components/upload/single-image-field";
import { usePreventFileDrop } from "@/components/upload/use-prevent-file-drop";
import { useUploader } from "@/components/upload/use-upload";
import { useUploadQueue } from "@/components/upload/use-upload-queue";
import { useUploadToasts, type UploadProblem } from "@/components/upload/use-upload-toasts";
import { BUCKETS } from "@/lib/constants";
import { useT, type Translate } from "@/lib/i18n";
import { changedFields } from "@/lib/editing/update-if-unchanged";
import type { DraftFormProps } from "@/lib/editing/use-draft-dialog";
import { useReportChanges } from "@/lib/editing/use-form-draft";
import { useSave } from "@/lib/editing/use-save";
import { areaToast } from "@/lib/toast";
import type { Review } from "@/lib/types";
import { IMAGE_ONLY } from "@/lib/upload/media-types";

type Save = { base: Review; change: ReviewWords };

/** The form of a new or existing review, with its avatar, its draft, and the dialog for conflicts. */
export function ReviewForm({
  start,
  draft,
  onChanged,
  onLoadNewer,
  hasDraft,
  onCancel,
  onSaved,
}: DraftFormProps<ReviewStart>) {
  const t = useT();
  const { review } = start;
  const create = useCreateReview();
  const update = useUpdateReview();
  const save = useSave<Save, Review>({
    save: (request) => update.mutateAsync(request),
    onSaved: () => {
      areaToast({ title: t("reviews.toast.updated") });
      onSaved();
    },
    onFailed: () => areaToast({ title: t("reviews.toast.updateError"), destructive: true }),
  });
  const { conflict } = save;
  const saving = create.isPending || save.saving;
  const avatar = useAvatar(start, draft, hasDraft);
  const form = useForm<ReviewValues>({
    resolver: zodResolver(reviewSchema),
    defaultValues: start.values,
    mode: "onChange",
  });
  const { register, handleSubmit, formState, getValues } = form;
  usePreventFileDrop();

  const changed = start.unsaved || formState.isDirty || avatar.changed;
  const imageUrl = avatar.urls[0] ?? null;
  useReportChanges(form, () =>
    onChanged(
      changed
        ? {
            ...start,
            values: getValues(),
            image_url: imageUrl,
            pending: avatar.pending,
            unsaved: true,
          }
        : null,
    ),
  );

  const ready = formState.isValid && !avatar.busy;

  async function add(values: ReviewValues) {
    try {
      await create.mutateAsync(reviewPayload(values, imageUrl));
    } catch {
      areaToast({ title: t("reviews.toast.addError"), destructive: true });
      return;
    }
    areaToast({ title: t("reviews.toast.added") });
    onSaved();
  }

  const submit = (values: ReviewValues) => {
    avatar.commit();
    return review ? save.run({ base: review, change: reviewWords(values, imageUrl) }) : add(values);
  };

  return (
    <form
      noValidate
      className="mt-6 grid gap-5"
      onSubmit={(event) => {
        if (!ready || saving) event.preventDefault();
        else void handleSubmit(submit)(event);
      }}
    >
      <TextField
        label={t("reviews.clientName")}
        required
        autoComplete="off"
        {...register("client_name")}
      />
      <TextField
        label={t("reviews.location")}
        optional
        autoComplete="off"
        {...register("location")}
      />
      <TextAreaField label={t("reviews.message")} required rows={5} {...register("message")} />
      <SingleImageField label={t("reviews.avatar")} optional queue={avatar} />
      <MissingFiles names={avatar.missing} />
      <div className="mt-1 flex justify-end gap-2">
        <Button variant="ghost" size="sm" onClick={onCancel} disabled={saving}>
          {t("common.cancel")}
        </Button>
        <Button type="submit" size="sm" disabled={!ready} loading={saving}>
          {saving ? t("common.saving") : t(review ? "common.saveChanges" : "reviews.add")}
        </Button>
      </div>
      <ConflictDialog
        open={conflict !== null}
        differences={conflict ? differences(conflict.newer, conflict.request.change, t) : []}
        onLoadNewer={() => {
          if (conflict) onLoadNewer(initialState(conflict.newer));
        }}
        onOverwrite={() => {
          if (conflict) void save.run({ ...conflict.request, base: conflict.newer });
        }}
        onKeepEditing={save.keepEditing}
        busy={saving}
      />
    </form>
  );
}

function differences(newer: Review, mine: ReviewWords, t: Translate): Difference[] {
  const labels = {
    client_name: t("reviews.clientName"),
    location: t("reviews.location"),
    message: t("reviews.message"),
    image_url: t("reviews.avatar"),
  };
  const fields = Object.keys(labels) as (keyof typeof labels)[];
  return changedFields<ReviewWords>(newer, mine, fields).map((field) => {
    const shown = (text: string | null) =>
      (field === "image_url" ? text && t("conflict.anImage") : text) ?? "";
    return { label: labels[field], theirs: shown(newer[field]), mine: shown(mine[field]) };
  });
}

function useAvatar(start: ReviewStart, draft: string, hasDraft: () => boolean) {
  const t = useT();
  const { upload, discard } = useUploader(BUCKETS.reviews);
  const showProblem = useUploadToasts();
  const onProblem = useCallback(
    (problem: UploadProblem) => {
      if (problem.reason === "failed") {
        areaToast({ title: t("reviews.toast.uploadError"), destructive: true });
      } else {
        showProblem(problem);
      }
    },
    [t, showProblem],
  );
  return useUploadQueue({
    kinds: IMAGE_ONLY,
    single: true,
    initial: start.image_url ? [start.image_url] : [],
    draft: `${draft}/avatar`,
    pending: start.pending,
    upload,
    discard,
    hasDraft,
    onProblem,
  });
}
