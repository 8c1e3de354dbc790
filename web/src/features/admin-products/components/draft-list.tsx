import { useCallback, useRef, useState } from "react";
import type { DraftBatchProps } from "@/features/admin-products/hooks/use-draft-batch";
import { hasTitle, isComplete, isUploaded } from "@/features/admin-products/draft";
import { VisibilityOptions } from "@/features/admin-products/components/visibility-inputs";
import { DraftRow } from "@/features/admin-products/components/draft-row";
import { chooseVisibility, type Visibility } from "@/features/admin-products/visibility";
import { MissingFiles } from "@/components/form/missing-files";
import { SelectField } from "@/components/form/select-field";
import { TextField } from "@/components/form/text-field";
import { Button } from "@/components/ui/button";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { ARTWORK_TYPES } from "@/lib/constants";
import { useT } from "@/lib/i18n";
import type { ArtworkType } from "@/lib/types";

/**
 * Lists the drafts: new works that are not stored yet, one for each picture that the owner has chosen. Buttons save, retry or discard
 * all drafts.
 */
export function DraftList({ drafts, batch }: DraftBatchProps) {
  const t = useT();
  const list = useRef<HTMLUListElement>(null);
  // Incomplete drafts show their errors only after the owner has tried to save.
  const [showErrors, setShowErrors] = useState(false);
  // Whether the dialog is open that asks whether to discard all drafts.
  const [isConfirming, setIsConfirming] = useState(false);
  const onIncomplete = useCallback(() => setShowErrors(true), []);
  if (drafts.length === 0) return null;

  const allIds = drafts.map(({ id }) => id);
  const uploadedCount = drafts.filter(isUploaded).length;
  // The field for all drafts shows a time of publication only if all drafts have the same one.
  const publishTimes = new Set(drafts.map(({ values }) => values.publish_at));
  const allScheduled = drafts.every(({ values }) => values.visibility === "scheduled");
  const failedIds = drafts.filter(({ state }) => state === "failed").map(({ id }) => id);

  function saveAll() {
    setShowErrors(true);
    batch.save(allIds);
    const firstIncomplete = drafts.findIndex((draft) => !isComplete(draft));
    if (firstIncomplete < 0) return;
    // Focuses the input to fill in: the title, which is the first input of the draft, or else the time of publication.
    const field = hasTitle(drafts[firstIncomplete]!) ? "input[type=datetime-local]" : "input";
    list.current?.children[firstIncomplete]?.querySelector<HTMLInputElement>(field)?.focus();
  }

  return (
    <section aria-labelledby="drafts-title" className="bg-shade border-indigo mb-10 border-b-8 p-5">
      <div className="flex flex-wrap items-end justify-between gap-x-8 gap-y-4">
        <div>
          <h2 id="drafts-title" className="text-[1.5rem] leading-[1.2] font-[430]">
            {t("bulk.title")}
          </h2>
          <p className="text-ink2 mt-1 max-w-[33em] text-sm">{t("bulk.intro")}</p>
          <p className="mt-2 lining-nums tabular-nums">
            {t("bulk.count", { done: uploadedCount, total: drafts.length })}
            {/* Screen readers announce the number of failures, but not each change of the count. */}
            <span role="status">
              {failedIds.length > 0 && ` · ${t("bulk.failedCount", { n: failedIds.length })}`}
            </span>
          </p>
        </div>
        <div className="flex flex-wrap items-start gap-x-6 gap-y-4">
          <SelectField
            label={t("bulk.typeForAll")}
            value=""
            className="min-w-[14rem]"
            onChange={(event) => {
              if (event.target.value)
                batch.editAll({ artwork_type: event.target.value as ArtworkType });
            }}
          >
            <option value="">{t("bulk.keepTypes")}</option>
            {ARTWORK_TYPES.map((type) => (
              <option key={type} value={type}>
                {t(`type.${type}`)}
              </option>
            ))}
          </SelectField>
          <SelectField
            label={t("bulk.visibilityForAll")}
            value=""
            className="min-w-[14rem]"
            onChange={(event) => {
              if (event.target.value)
                batch.editAll(
                  chooseVisibility(
                    event.target.value as Visibility,
                    publishTimes.size === 1 ? [...publishTimes][0]! : "",
                  ),
                );
            }}
          >
            <option value="">{t("bulk.keepTypes")}</option>
            <VisibilityOptions />
          </SelectField>
          {allScheduled && drafts.length > 1 && (
            <TextField
              type="datetime-local"
              label={t("bulk.timeForAll")}
              value={publishTimes.size === 1 ? [...publishTimes][0]! : ""}
              className="min-w-[14rem]"
              onChange={({ target }) => batch.editAll({ publish_at: target.value })}
            />
          )}
        </div>
      </div>
      <div className="mt-4 flex flex-wrap gap-3">
        <Button size="sm" onClick={saveAll}>
          {t("bulk.saveAll")}
        </Button>
        {failedIds.length > 0 && (
          <Button size="sm" variant="outline" onClick={() => batch.retry(failedIds)}>
            {t("bulk.retryAll")}
          </Button>
        )}
        <Button size="sm" variant="ghost" onClick={() => setIsConfirming(true)}>
          {t("bulk.dropAll")}
        </Button>
      </div>
      <MissingFiles
        names={drafts.filter(({ state }) => state === "missing").map(({ file }) => file.name)}
        className="mt-4"
      />
      <ul ref={list} className="border-ink mt-5 border-t-2">
        {drafts.map((draft) => (
          <DraftRow
            key={draft.id}
            draft={draft}
            batch={batch}
            showErrors={showErrors}
            onIncomplete={onIncomplete}
          />
        ))}
      </ul>
      <ConfirmDialog
        open={isConfirming}
        onOpenChange={setIsConfirming}
        title={t("bulk.dropAll")}
        question={t("bulk.dropQuestion")}
        confirmLabel={t("bulk.dropAll")}
        onConfirm={() => {
          batch.discard(allIds);
          setIsConfirming(false);
        }}
        busy={false}
      />
    </section>
  );
}
