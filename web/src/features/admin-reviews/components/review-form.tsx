import { useCallback, useEffect, useRef, useState } from "react";
import { zodResolver } from "@hookform/resolvers/zod";
import { useForm } from "react-hook-form";
import { useCreateReview } from "@/features/admin-reviews/api/create-review";
import { useUpdateReview } from "@/features/admin-reviews/api/update-review";
import {
  reviewPayload,
  reviewSchema,
  reviewWords,
  startOf,
  type ReviewStart,
  type ReviewValues,
  type ReviewWords,
} from "@/features/admin-reviews/schema";
import { TextAreaField } from "@/components/form/text-area-field";
import { TextField } from "@/components/form/text-field";
import { Button } from "@/components/ui/button";
import { ConflictDialog, type Difference } from "@/components/ui/conflict-dialog";
import { SingleImageField } from "@/components/upload/single-image-field";
import { useNoStrayDrops } from "@/components/upload/use-no-stray-drops";
import { useUploader } from "@/components/upload/use-upload";
import { useUploadQueue } from "@/components/upload/use-upload-queue";
import { useUploadToasts, type UploadProblem } from "@/components/upload/use-upload-toasts";
import { BUCKETS } from "@/lib/constants";
import { useT, type Translate } from "@/lib/i18n";
import { ChangedMeanwhile, differing } from "@/lib/save-seen";
import { areaToast } from "@/lib/toast";
import type { Review } from "@/lib/types";
import { IMAGE_ONLY } from "@/lib/upload/media-types";

type ReviewFormProps = {
  start: ReviewStart;
  /** Told at each change what would be lost, or null when nothing would. */
  onChanged(unsaved: ReviewStart | null): void;
  /** Somebody else saved the review first, and their version shall be the one to go on with. */
  onNewer(start: ReviewStart): void;
  /** Whether a draft was kept of the form, which its files then belong to. */
  drafted(): boolean;
  onCancel(): void;
  onSaved(): void;
};

type Conflict = { newer: Review; mine: ReviewWords };

export function ReviewForm({
  start,
  onChanged,
  onNewer,
  drafted,
  onCancel,
  onSaved,
}: ReviewFormProps) {
  const t = useT();
  const { review } = start;
  const create = useCreateReview();
  const update = useUpdateReview();
  const saving = create.isPending || update.isPending;
  const [conflict, setConflict] = useState<Conflict | null>(null);
  const avatar = useAvatar(start.image_url, drafted);
  const { register, handleSubmit, formState, subscribe, getValues } = useForm<ReviewValues>({
    resolver: zodResolver(reviewSchema),
    defaultValues: start.values,
    mode: "onChange",
  });
  useNoStrayDrops();

  const changed = start.unsaved || formState.isDirty || avatar.changed;
  const tell = useRef(() => {});
  useEffect(() => {
    const image_url = avatar.urls[0] ?? null;
    tell.current = () =>
      onChanged(changed ? { ...start, values: getValues(), image_url, unsaved: true } : null);
    tell.current();
  });
  // Typing does not draw the form anew.
  useEffect(
    () => subscribe({ formState: { values: true }, callback: () => tell.current() }),
    [subscribe],
  );

  const ready = formState.isValid && !avatar.busy;

  async function change(seen: Review, words: ReviewWords) {
    try {
      await update.mutateAsync({ seen, change: words });
    } catch (error) {
      if (error instanceof ChangedMeanwhile) {
        setConflict({ newer: error.newer as Review, mine: words });
      } else {
        areaToast({ title: t("reviews.toast.updateError"), destructive: true });
      }
      return;
    }
    setConflict(null);
    areaToast({ title: t("reviews.toast.updated") });
    onSaved();
  }

  async function add(values: ReviewValues) {
    try {
      await create.mutateAsync(reviewPayload(values, avatar.urls[0] ?? null));
    } catch {
      areaToast({ title: t("reviews.toast.addError"), destructive: true });
      return;
    }
    areaToast({ title: t("reviews.toast.added") });
    onSaved();
  }

  const submit = (values: ReviewValues) => {
    avatar.keep();
    return review ? change(review, reviewWords(values, avatar.urls[0] ?? null)) : add(values);
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
        differences={conflict ? differences(conflict, t) : []}
        onNewer={() => {
          if (conflict) onNewer(startOf(conflict.newer));
        }}
        onMine={() => {
          if (conflict) void change(conflict.newer, conflict.mine);
        }}
        onKeep={() => setConflict(null)}
        busy={saving}
      />
    </form>
  );
}

function differences({ newer, mine }: Conflict, t: Translate): Difference[] {
  const labels = {
    client_name: t("reviews.clientName"),
    location: t("reviews.location"),
    message: t("reviews.message"),
    image_url: t("reviews.avatar"),
  };
  const fields = Object.keys(labels) as (keyof typeof labels)[];
  return differing<ReviewWords>(newer, mine, fields).map((field) => {
    const shown = (text: string | null) =>
      (field === "image_url" ? text && t("conflict.anImage") : text) ?? "";
    return { label: labels[field], theirs: shown(newer[field]), mine: shown(mine[field]) };
  });
}

function useAvatar(initial: string | null, drafted: () => boolean) {
  const t = useT();
  const { upload, discard } = useUploader(BUCKETS.reviews);
  const tell = useUploadToasts();
  const onProblem = useCallback(
    (problem: UploadProblem) => {
      if (problem.reason === "failed") {
        areaToast({ title: t("reviews.toast.uploadError"), destructive: true });
      } else {
        tell(problem);
      }
    },
    [t, tell],
  );
  return useUploadQueue({
    kinds: IMAGE_ONLY,
    single: true,
    initial: initial ? [initial] : [],
    upload,
    discard,
    drafted,
    onProblem,
  });
}
