import { useCallback, useEffect } from "react";
import { zodResolver } from "@hookform/resolvers/zod";
import { useForm } from "react-hook-form";
import { useCreateReview } from "@/features/admin-reviews/api/create-review";
import { reviewPayload, reviewSchema, type ReviewValues } from "@/features/admin-reviews/schema";
import { TextAreaField } from "@/components/form/text-area-field";
import { TextField } from "@/components/form/text-field";
import { Button } from "@/components/ui/button";
import { SingleImageField } from "@/components/upload/single-image-field";
import { useNoStrayDrops } from "@/components/upload/use-no-stray-drops";
import { useUploader } from "@/components/upload/use-upload";
import { useUploadQueue } from "@/components/upload/use-upload-queue";
import { useUploadToasts, type UploadProblem } from "@/components/upload/use-upload-toasts";
import { BUCKETS } from "@/lib/constants";
import { useT } from "@/lib/i18n";
import { areaToast } from "@/lib/toast";
import { IMAGE_ONLY } from "@/lib/upload/media-types";

type AddReviewFormProps = {
  onChanged(changed: boolean): void;
  onCancel(): void;
  onAdded(): void;
};

export function AddReviewForm({ onChanged, onCancel, onAdded }: AddReviewFormProps) {
  const t = useT();
  const create = useCreateReview();
  const avatar = useAvatar();
  const { register, handleSubmit, formState } = useForm<ReviewValues>({
    resolver: zodResolver(reviewSchema),
    defaultValues: { client_name: "", location: "", message: "" },
    mode: "onChange",
  });
  useNoStrayDrops();

  const changed = formState.isDirty || avatar.changed;
  useEffect(() => onChanged(changed), [changed, onChanged]);

  const ready = formState.isValid && !avatar.busy;

  async function submit(values: ReviewValues) {
    avatar.keep();
    try {
      await create.mutateAsync(reviewPayload(values, avatar.urls[0] ?? null));
    } catch {
      areaToast({ title: t("reviews.toast.addError"), destructive: true });
      return;
    }
    areaToast({ title: t("reviews.toast.added") });
    onAdded();
  }

  return (
    <form
      noValidate
      className="mt-6 grid gap-5"
      onSubmit={(event) => {
        if (!ready || create.isPending) event.preventDefault();
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
        <Button variant="ghost" size="sm" onClick={onCancel} disabled={create.isPending}>
          {t("common.cancel")}
        </Button>
        <Button type="submit" size="sm" disabled={!ready} loading={create.isPending}>
          {create.isPending ? t("common.saving") : t("reviews.add")}
        </Button>
      </div>
    </form>
  );
}

function useAvatar() {
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
    upload,
    discard,
    onProblem,
  });
}
