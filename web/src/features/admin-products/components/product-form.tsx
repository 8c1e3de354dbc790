import { useEffect, useId, useState, type ReactNode } from "react";
import { zodResolver } from "@hookform/resolvers/zod";
import { Film, Upload } from "lucide-react";
import { Controller, FormProvider, useForm, type FieldErrors } from "react-hook-form";
import { AltTextFields } from "@/features/admin-products/components/alt-text-fields";
import { VisibilityFields } from "@/features/admin-products/components/visibility-fields";
import { useSaveProduct } from "@/features/admin-products/hooks/use-save-product";
import { conflictDifferences } from "@/features/admin-products/differences";
import {
  formValues,
  mediaOf,
  productSchema,
  initialFormState,
  type ProductMedia,
  type ProductFormState,
  type ProductValues,
} from "@/features/admin-products/schema";
import { FormFields } from "@/components/form/form-fields";
import { MissingFiles } from "@/components/form/missing-files";
import { DateField } from "@/components/form/date-field";
import { SelectField } from "@/components/form/select-field";
import { TextField } from "@/components/form/text-field";
import { TwoLanguages } from "@/components/form/two-languages";
import { Button } from "@/components/ui/button";
import { ConflictDialog } from "@/components/ui/conflict-dialog";
import { Switch } from "@/components/ui/switch";
import { MediaField } from "@/components/upload/media-field";
import { SingleImageField } from "@/components/upload/single-image-field";
import { usePreventFileDrop } from "@/components/upload/use-prevent-file-drop";
import { useUploader } from "@/components/upload/use-uploader";
import { useUploadQueue } from "@/components/upload/use-upload-queue";
import { useUploadToasts } from "@/components/upload/use-upload-toasts";
import { useBoot } from "@/lib/boot";
import { ARTWORK_TYPES, BUCKETS } from "@/lib/constants";
import { useT } from "@/lib/i18n";
import type { DraftFormProps } from "@/lib/editing/use-draft-dialog";
import { useReportChanges } from "@/lib/editing/use-form-draft";
import type { TextKey } from "@/lib/texts";
import { randomUuid } from "@/lib/upload/file-name";
import { IMAGE_ONLY, VIDEO_ONLY } from "@/lib/upload/media-types";

/**
 * The form of a work (a row of products), in a dialog. The work is new, an existing one, or a duplicate of another work. To add a
 * field, add its entries in schema.ts and its input to one of the groups below. TwoLanguages is the input of a text in both languages.
 */
export function ProductForm({
  start, // the state with which the form starts: the work, the values of its fields, and its files
  draft: draftName, // the name under which the browser stores the draft (unsaved values and files)
  onChanged, // stores the unsaved state as the draft; null deletes the draft
  onLoadNewer, // after a conflict: opens the dialog again with the newer version of the work
  hasDraft, // returns whether the draft is stored now
  onCancel, // closes the dialog; asks first if something is unsaved
  onSaved, // closes the dialog after a successful save
}: DraftFormProps<ProductFormState>) {
  const t = useT();
  const { product } = start;
  // The id that a new work gets. All attempts to save use the same id, so that a retry adds no second work.
  const [newId] = useState(() => start.newId ?? randomUuid());
  const { save, overwrite, dismissConflict, conflict, saving } = useSaveProduct(
    start,
    newId,
    onSaved,
  );
  const form = useForm<ProductValues>({
    resolver: zodResolver(productSchema),
    // A draft that an earlier version of the site has stored may lack fields. These fields get the values of the work.
    defaultValues: { ...formValues(product), ...start.values },
    mode: "onSubmit",
    reValidateMode: "onChange",
  });
  const { register, control, watch, formState } = form;
  const media = useProductMedia(start, draftName, hasDraft);
  usePreventFileDrop();

  const hasChanges = start.unsaved || formState.isDirty || media.hasChanges;
  useUnloadWarning(hasChanges);

  useReportChanges(form, () =>
    onChanged(
      hasChanges
        ? {
            ...start,
            newId,
            values: form.getValues(),
            media: media.values,
            uploaded: media.uploaded,
            pending: media.pending,
            unsaved: true,
          }
        : null,
    ),
  );

  function submit(values: ProductValues) {
    media.commit();
    return save(values, media.values, media.uploaded);
  }

  /** Makes a picture of the gallery the main picture. The earlier main picture, if any, takes its place in the gallery. */
  function makeMain(url: string) {
    media.gallery.exchange(url, media.main.urls[0]);
    media.main.reset([url]);
  }

  function showFirstError(errors: FieldErrors<ProductValues>) {
    const group = errors.title ? "work" : errors.publish_at ? "visibility" : null;
    // On a phone the browser would scroll the focused field only as far as behind the sticky footer.
    if (group) document.getElementById(groupId(group))?.scrollIntoView({ block: "start" });
  }

  const formId = useId();
  const groupId = (name: string) => `${formId}-${name}`;
  const titleError = formState.errors.title?.message as TextKey | undefined;
  const isNotInGallery = !useBoot().site.gallery.types.includes(watch("artwork_type"));

  return (
    <form
      noValidate
      aria-busy={saving || undefined}
      className="flex min-h-0 flex-1 flex-col"
      onSubmit={(event) => {
        if (media.busy || saving) event.preventDefault();
        else void form.handleSubmit(submit, showFirstError)(event);
      }}
    >
      <div className="relative min-h-0 flex-1 overflow-y-auto overscroll-contain px-5 pb-8 md:px-8">
        <FormFields saving={saving}>
          <MissingFiles names={media.missing} className="pt-5" />
          <Group id={groupId("work")} title={t("products.group.work")}>
            <TwoLanguages
              form={form}
              names={{ en: "title", pt: "title_pt" }}
              label={t("products.title")}
              required
              errors={{ en: titleError && t(titleError) }}
            />
            <Columns>
              <SelectField
                label={t("products.type")}
                hint={isNotInGallery ? t("products.notInGalleryHint") : undefined}
                {...register("artwork_type")}
              >
                {ARTWORK_TYPES.map((type) => (
                  <option key={type} value={type}>
                    {t(`type.${type}`)}
                  </option>
                ))}
              </SelectField>
            </Columns>
            <TwoLanguages
              form={form}
              names={{ en: "description", pt: "description_pt" }}
              label={t("products.description")}
              rows={2}
              areaClassName="[&_textarea]:min-h-[90px]"
            />
          </Group>

          <Group id={groupId("media")} title={t("products.group.media")}>
            <div className="grid gap-5 sm:grid-cols-[170px_1fr] sm:gap-[22px]">
              <SingleImageField
                label={t("products.mainImage")}
                queue={media.main}
                media={start.product?.media}
                areaClassName="sm:max-w-[138px] sm:min-h-[157px]"
              />
              <MediaField
                label={t("products.galleryImages")}
                kind="image"
                queue={media.gallery}
                media={start.product?.media}
                icon={<Upload aria-hidden="true" size={20} strokeWidth={1.75} />}
                areaClassName="min-h-[88px]"
                onMakeMain={media.main.busy ? undefined : makeMain}
              />
            </div>
            <MediaField
              label={t("products.galleryVideos")}
              kind="video"
              queue={media.videos}
              media={start.product?.media}
              uploadStill={media.uploadStill}
              icon={<Film aria-hidden="true" size={20} strokeWidth={1.75} />}
            />
            <AltTextFields
              form={form}
              urls={[...media.main.urls, ...media.gallery.urls]}
              media={start.product?.media}
            />
          </Group>

          <Group id={groupId("details")} title={t("products.group.details")}>
            <TwoLanguages
              form={form}
              names={{ en: "dimensions", pt: "dimensions_pt" }}
              label={t("gallery.dimensions")}
            />
            <TwoLanguages
              form={form}
              names={{ en: "medium", pt: "medium_pt" }}
              label={t("gallery.medium")}
            />
            <Columns>
              <DateField label={t("gallery.creationDate")} {...register("creation_date")} />
              <TextField
                label={t("products.tags")}
                hint={t("products.tagsHint")}
                {...register("tags")}
              />
            </Columns>
          </Group>

          <Group id={groupId("visibility")} title={t("products.group.visibility")}>
            <FormProvider {...form}>
              <VisibilityFields />
            </FormProvider>
          </Group>

          <Group id={groupId("availability")} title={t("products.group.availability")}>
            <div>
              {switches.map(({ name, label }) => (
                <Controller
                  key={name}
                  name={name}
                  control={control}
                  render={({ field }) => (
                    <Switch
                      label={t(label)}
                      checked={field.value}
                      onCheckedChange={field.onChange}
                      className="min-h-12"
                    />
                  )}
                />
              ))}
            </div>
          </Group>

          <Group id={groupId("seo")} title={t("products.group.seo")}>
            <TwoLanguages
              form={form}
              names={{ en: "seo_meta_title", pt: "seo_meta_title_pt" }}
              label={t("products.seoTitle")}
              hint={t("products.seoTitleHint")}
            />
            <TwoLanguages
              form={form}
              names={{ en: "seo_meta_desc", pt: "seo_meta_desc_pt" }}
              label={t("products.seoDesc")}
              hint={t("products.seoDescHint")}
              rows={2}
              areaClassName="[&_textarea]:min-h-[90px]"
            />
          </Group>
        </FormFields>
      </div>

      <div className="border-line flex flex-none items-center justify-end gap-2 border-t px-5 py-4 md:px-8">
        <Button variant="ghost" size="sm" onClick={onCancel} disabled={saving}>
          {t("common.cancel")}
        </Button>
        <Button type="submit" size="sm" disabled={media.busy} loading={saving}>
          {saving ? t("common.saving") : t(product ? "common.saveChanges" : "common.save")}
        </Button>
      </div>
      <ConflictDialog
        open={conflict !== null}
        differences={conflict ? conflictDifferences(conflict, t) : []}
        onLoadNewer={() => {
          if (conflict) onLoadNewer(initialFormState(conflict.newer));
        }}
        onOverwrite={() => void overwrite(media.uploaded)}
        onKeepEditing={dismissConflict}
        busy={saving}
      />
    </form>
  );
}

const switches = [
  { name: "is_featured", label: "products.featured" },
  { name: "in_stock", label: "products.inStock" },
  { name: "is_customizable", label: "products.customizable" },
] as const;

/** A titled group of fields. */
function Group({ id, title, children }: { id: string; title: string; children: ReactNode }) {
  return (
    <section
      aria-labelledby={`${id}-title`}
      className="border-ink mt-7 border-t-2 pt-5 first:mt-0 first:border-t-0"
      id={id}
    >
      <h3 id={`${id}-title`} className="mb-4 text-[1.1875rem] leading-[1.4] font-[520]">
        {title}
      </h3>
      <div className="grid gap-6">{children}</div>
    </section>
  );
}

/** Fields in two columns, which are those of TwoLanguages, on phones in one. */
function Columns({ children }: { children: ReactNode }) {
  return <div className="grid items-start gap-x-[52px] gap-y-6 sm:grid-cols-2">{children}</div>;
}

/** The upload queues of the work's files, and the state of all of them together. */
function useProductMedia(start: ProductFormState, draftName: string, hasDraft: () => boolean) {
  const { upload, uploadStill, discard } = useUploader(BUCKETS.products);
  const onProblem = useUploadToasts();
  const common = { upload, discard, hasDraft, onProblem };
  const { image_url, image_gallery, video_gallery } = start.media;
  const draftOptions = (field: keyof ProductMedia) => ({
    draft: `${draftName}/${field}`,
    pending: start.pending?.[field],
  });
  const main = useUploadQueue({
    kinds: IMAGE_ONLY,
    single: true,
    initial: image_url ? [image_url] : [],
    ...common,
    ...draftOptions("image_url"),
  });
  const gallery = useUploadQueue({
    kinds: IMAGE_ONLY,
    initial: image_gallery,
    ...common,
    ...draftOptions("image_gallery"),
  });
  const videos = useUploadQueue({
    kinds: VIDEO_ONLY,
    initial: video_gallery,
    ...common,
    ...draftOptions("video_gallery"),
  });
  const queues = [main, gallery, videos];
  return {
    main,
    gallery,
    videos,
    uploadStill,
    commit: () => queues.forEach((queue) => queue.commit()),
    busy: queues.some((queue) => queue.busy),
    hasChanges: queues.some((queue) => queue.changed),
    missing: queues.flatMap((queue) => queue.missing),
    pending: {
      image_url: main.pending,
      image_gallery: gallery.pending,
      video_gallery: videos.pending,
    },
    uploaded: [...start.uploaded, ...queues.flatMap((queue) => queue.uploaded)],
    values: mediaOf({
      image_url: main.urls[0] ?? null,
      image_gallery: gallery.urls,
      video_gallery: videos.urls,
    }),
  };
}

/** Makes the browser ask before the page is closed or reloaded while there are unsaved changes. */
function useUnloadWarning(hasChanges: boolean) {
  useEffect(() => {
    if (!hasChanges) return;
    const askBeforeLeaving = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", askBeforeLeaving);
    return () => window.removeEventListener("beforeunload", askBeforeLeaving);
  }, [hasChanges]);
}
