import { useCallback, useState } from "react";
import { zodResolver } from "@hookform/resolvers/zod";
import { useForm } from "react-hook-form";
import { useCreateReview } from "@/features/admin-reviews/api/create-review";
import { useUpdateReview } from "@/features/admin-reviews/api/update-review";
import {
  reviewPayload,
  reviewSchema,
  reviewChange,
  initialFormState,
  type ReviewFormState,
  type ReviewValues,
  type ReviewChange,
} from "@/features/admin-reviews/schema";
import { FormFields } from "@/components/form/form-fields";
import { MissingFiles } from "@/components/form/missing-files";
import { TextField } from "@/components/form/text-field";
import { TwoLanguages } from "@/components/form/two-languages";
import { Button } from "@/components/ui/button";
import { ConflictDialog, type Difference } from "@/components/ui/conflict-dialog";
import { SingleImageField } from "@/components/upload/single-image-field";
import { usePreventFileDrop } from "@/components/upload/use-prevent-file-drop";
import { useUploader } from "@/components/upload/use-uploader";
import { useUploadQueue } from "@/components/upload/use-upload-queue";
import { useUploadToasts, type UploadProblem } from "@/components/upload/use-upload-toasts";
import { BUCKETS } from "@/lib/constants";
import { useT, type Translate } from "@/lib/i18n";
import { changedFields } from "@/lib/editing/update-if-unchanged";
import type { DraftFormProps } from "@/lib/editing/use-draft-dialog";
import { useReportChanges } from "@/lib/editing/use-form-draft";
import { useSave } from "@/lib/editing/use-save";
import { stackedToast } from "@/lib/toast";
import type { Review } from "@/lib/types";
import { randomUuid } from "@/lib/upload/file-name";
import { IMAGE_ONLY } from "@/lib/upload/media-types";

/** A save of an existing review. `base` is the version of the row that the change is based on. */
type SaveRequest = { base: Review; change: ReviewChange };

/**
 * The form of a new or existing review (what a client said): its texts and the upload of its avatar (the client's picture). The
 * form reports unsaved values, which become its draft, and opens a dialog if a newer version was saved meanwhile (a conflict).
 */
export function ReviewForm({
  start, // the state with which the form starts: the review, the values of its fields, and its avatar
  draft: draftName, // the name under which the browser stores the draft
  onChanged, // stores the unsaved state as the draft; null deletes the draft
  onLoadNewer, // after a conflict: opens the dialog again with the version that was saved meanwhile
  hasDraft, // returns whether the draft is stored now
  onCancel, // closes the dialog; asks first if something is unsaved
  onSaved, // closes the dialog after a successful save
}: DraftFormProps<ReviewFormState>) {
  const t = useT();
  const { review } = start;
  const [newId] = useState(() => start.newId ?? randomUuid());
  const create = useCreateReview();
  const update = useUpdateReview();
  const {
    run: saveChange,
    conflict,
    saving: savingChange,
    dismissConflict,
  } = useSave<SaveRequest, Review>({
    save: (request) => update.mutateAsync(request),
    onSaved: () => {
      stackedToast({ title: t("reviews.toast.updated") });
      onSaved();
    },
    onFailed: () => stackedToast({ title: t("reviews.toast.updateError"), destructive: true }),
  });
  const saving = create.isPending || savingChange;
  const avatar = useAvatarQueue(start, draftName, hasDraft);
  const form = useForm<ReviewValues>({
    resolver: zodResolver(reviewSchema),
    // A draft that an earlier version of the site has stored may lack fields. These fields get the values of the review.
    defaultValues: { ...initialFormState(review).values, ...start.values },
    mode: "onChange",
  });
  const { register, handleSubmit, formState, getValues } = form;
  usePreventFileDrop();

  const hasChanges = start.unsaved || formState.isDirty || avatar.changed;
  const imageUrl = avatar.urls[0] ?? null;
  useReportChanges(form, () =>
    onChanged(
      hasChanges
        ? {
            ...start,
            newId,
            values: getValues(),
            image_url: imageUrl,
            pending: avatar.pending,
            unsaved: true,
          }
        : null,
    ),
  );

  const canSubmit = formState.isValid && !avatar.busy;

  async function createReview(values: ReviewValues) {
    try {
      await create.mutateAsync({ id: newId, payload: reviewPayload(values, imageUrl) });
    } catch {
      stackedToast({ title: t("reviews.toast.addError"), destructive: true });
      return;
    }
    stackedToast({ title: t("reviews.toast.added") });
    onSaved();
  }

  const submit = (values: ReviewValues) => {
    avatar.commit();
    return review
      ? saveChange({ base: review, change: reviewChange(values, imageUrl) })
      : createReview(values);
  };

  return (
    <form
      noValidate
      className="mt-6 grid gap-5"
      onSubmit={(event) => {
        if (!canSubmit || saving) event.preventDefault();
        else void handleSubmit(submit)(event);
      }}
    >
      <FormFields saving={saving} className="grid gap-5">
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
        <TwoLanguages
          form={form}
          names={{ en: "message", pt: "message_pt" }}
          label={t("reviews.message")}
          required
          rows={5}
        />
        <SingleImageField label={t("reviews.avatar")} optional queue={avatar} />
        <MissingFiles names={avatar.missing} />
      </FormFields>
      <div className="mt-1 flex justify-end gap-2">
        <Button variant="ghost" size="sm" onClick={onCancel} disabled={saving}>
          {t("common.cancel")}
        </Button>
        <Button type="submit" size="sm" disabled={!canSubmit} loading={saving}>
          {saving ? t("common.saving") : t(review ? "common.saveChanges" : "reviews.add")}
        </Button>
      </div>
      <ConflictDialog
        open={conflict !== null}
        differences={
          conflict ? conflictDifferences(conflict.newer, conflict.request.change, t) : []
        }
        onLoadNewer={() => {
          if (conflict) onLoadNewer(initialFormState(conflict.newer));
        }}
        onOverwrite={() => {
          if (conflict) void saveChange({ ...conflict.request, base: conflict.newer });
        }}
        onKeepEditing={dismissConflict}
        busy={saving}
      />
    </form>
  );
}

/** The fields in which the newer row and the form differ, with texts of both values. */
function conflictDifferences(newer: Review, mine: ReviewChange, t: Translate): Difference[] {
  const labels = {
    client_name: t("reviews.clientName"),
    location: t("reviews.location"),
    message: t("reviews.message"),
    message_pt: t("form.inPortuguese", { label: t("reviews.message") }),
    image_url: t("reviews.avatar"),
  };
  const fields = Object.keys(labels) as (keyof typeof labels)[];
  return changedFields<ReviewChange>(newer, mine, fields).map((field) => {
    const textOf = (text: string | null | undefined) =>
      (field === "image_url" ? text && t("conflict.anImage") : text) ?? "";
    return { label: labels[field], theirs: textOf(newer[field]), mine: textOf(mine[field]) };
  });
}

/** The upload queue of the avatar, which has at most one picture. */
function useAvatarQueue(start: ReviewFormState, draft: string, hasDraft: () => boolean) {
  const t = useT();
  const { upload, discard } = useUploader(BUCKETS.reviews);
  const showProblem = useUploadToasts();
  const onProblem = useCallback(
    (problem: UploadProblem) => {
      if (problem.reason === "failed") {
        stackedToast({ title: t("reviews.toast.uploadError"), destructive: true });
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
