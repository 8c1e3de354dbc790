import { memo } from "react";
import { RotateCcw, Save, X } from "lucide-react";
import type { Draft } from "@/features/admin-products/draft";
import { hasTime, hasTitle, isComplete } from "@/features/admin-products/draft";
import type { DraftBatch } from "@/features/admin-products/draft-batch";
import { DraftVisibility } from "@/features/admin-products/components/draft-visibility";
import { SelectField } from "@/components/form/select-field";
import { TextField } from "@/components/form/text-field";
import { IconButton } from "@/components/ui/icon-button";
import { ProgressBar } from "@/components/upload/progress-bar";
import { useBoot } from "@/lib/boot";
import { ARTWORK_TYPES } from "@/lib/constants";
import { useT } from "@/lib/i18n";
import type { TextKey } from "@/lib/texts";
import type { ArtworkType } from "@/lib/types";
import { useOnline } from "@/lib/use-online";
import { cn } from "@/lib/cn";

type DraftRowProps = {
  draft: Draft;
  /** All drafts, and the functions that change and save them. */
  batch: DraftBatch;
  /** Whether incomplete fields show errors: only after the owner has tried to save. */
  showErrors: boolean;
  /** Called when the owner tries to save this draft while it is incomplete. */
  onIncomplete(): void;
};

/**
 * A row in the list of drafts (new works that are not stored yet): the picture of one draft and its main fields. The owner edits the
 * other fields after the work is saved.
 */
export const DraftRow = memo(function DraftRow({
  draft,
  batch,
  showErrors,
  onIncomplete,
}: DraftRowProps) {
  const t = useT();
  const { types } = useBoot().site.gallery;
  const { id, file, values, state } = draft;
  const name = values.title.trim() || file.name;
  const edit = (change: Partial<Draft["values"]>) => batch.edit(id, change);

  return (
    <li
      aria-label={t("bulk.draft", { name: file.name })}
      // content-visibility skips layout and paint of rows outside the viewport.
      className="border-line grid grid-cols-[60px_1fr] gap-x-4 gap-y-4 border-b py-4 [contain-intrinsic-size:auto_600px] [content-visibility:auto] md:[contain-intrinsic-size:auto_240px]"
    >
      <span className="bg-shade grid size-[60px] place-items-center p-1">
        {draft.preview && state !== "refused" && (
          <img src={draft.preview} alt="" className="size-[52px] object-contain" />
        )}
      </span>
      <div className="grid min-w-0 content-center gap-1.5">
        <p className="text-ink2 truncate text-sm" title={file.name}>
          {file.name}
        </p>
        {draft.url === null && <ProgressBar percent={draft.progress} failed={isFailed(draft)} />}
        <Status draft={draft} />
      </div>
      <fieldset
        disabled={state === "saving"}
        className="col-span-2 grid min-w-0 items-start gap-4 sm:grid-cols-2 xl:grid-cols-[1.3fr_1fr_0.9fr_1fr_1.2fr_auto]"
      >
        {state !== "refused" && (
          <>
            <TextField
              label={t("products.title")}
              required
              value={values.title}
              error={showErrors && !hasTitle(draft) ? t("products.titleRequired") : undefined}
              onChange={(event) => edit({ title: event.target.value })}
            />
            <SelectField
              label={t("products.type")}
              hint={
                types.includes(values.artwork_type) ? undefined : t("products.notInGalleryHint")
              }
              value={values.artwork_type}
              onChange={(event) => edit({ artwork_type: event.target.value as ArtworkType })}
            >
              {ARTWORK_TYPES.map((type) => (
                <option key={type} value={type}>
                  {t(`type.${type}`)}
                </option>
              ))}
            </SelectField>
            <TextField
              label={t("gallery.dimensions")}
              optional
              value={values.dimensions}
              onChange={(event) => edit({ dimensions: event.target.value })}
            />
            <TextField
              label={t("gallery.medium")}
              optional
              value={values.medium}
              onChange={(event) => edit({ medium: event.target.value })}
            />
            <DraftVisibility
              values={values}
              error={showErrors && !hasTime(draft) ? t("products.publishAtRequired") : undefined}
              onChange={edit}
            />
          </>
        )}
        <div
          className={cn(
            "col-span-full flex justify-end gap-1",
            state !== "refused" && "xl:col-span-1 xl:pt-[35px]",
          )}
        >
          {state === "failed" && (
            <IconButton
              size="iconSm"
              variant="ghost"
              label={t("bulk.retryOne", { name })}
              onClick={() => batch.retry([id])}
            >
              <RotateCcw aria-hidden="true" size={21} strokeWidth={1.5} />
            </IconButton>
          )}
          {state !== "refused" && state !== "missing" && (
            <IconButton
              size="iconSm"
              variant="ghost"
              label={t("bulk.saveOne", { name })}
              loading={state === "saving"}
              onClick={() => {
                if (!isComplete(draft)) onIncomplete();
                else batch.save([id]);
              }}
            >
              <Save aria-hidden="true" size={21} strokeWidth={1.5} />
            </IconButton>
          )}
          <IconButton
            size="iconSm"
            variant="ghost"
            label={t("bulk.dropOne", { name })}
            onClick={() => batch.discard([id])}
          >
            <X aria-hidden="true" size={21} strokeWidth={1.5} />
          </IconButton>
        </div>
      </fieldset>
    </li>
  );
});

const isFailed = ({ state }: Draft) =>
  state === "failed" || state === "refused" || state === "unsaved" || state === "missing";

const stateTexts: Record<Draft["state"], TextKey> = {
  waiting: "bulk.waiting",
  uploading: "upload.progress",
  failed: "upload.failedTitle",
  refused: "upload.wrongType",
  uploaded: "bulk.uploaded",
  saving: "common.saving",
  unsaved: "bulk.saveFailed",
  missing: "bulk.missing",
};

/** The state of the draft in words, with the progress of its upload. */
function Status({ draft }: { draft: Draft }) {
  const t = useT();
  const online = useOnline();
  const { state, progress, saveRequested, file } = draft;
  const pending = state === "waiting" || state === "uploading";
  const text =
    state === "uploading" && !online
      ? t("upload.offline")
      : t(stateTexts[state], { n: progress, name: file.name });
  return (
    <p
      className={cn(
        "text-sm lining-nums tabular-nums",
        isFailed(draft) ? "text-danger font-[520]" : "text-ink2",
      )}
    >
      {text}
      {saveRequested && pending && ` · ${t("bulk.savedAfter")}`}
    </p>
  );
}
