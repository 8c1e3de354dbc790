import { useCallback, useEffect, useRef, useState } from "react";
import type { FieldValues, UseFormReturn } from "react-hook-form";
import { deleteDraft, draftTime, loadDraft, saveDraft } from "@/lib/drafts";

/**
 * The draft (the unsaved values that the browser stores) of a form that is always open. `name` is the draft's name, from
 * useDraftLock. Forms in dialogs use useDraftDialog instead.
 */
export function useFormDraft<Draft>(name: string) {
  const [draft] = useState(() => loadDraft(name) as Draft | undefined);
  const [restored, setRestored] = useState(() => (draft && draftTime(name)) ?? null);
  const store = useCallback(
    (unsaved: Draft | null) => (unsaved ? saveDraft(name, unsaved) : deleteDraft(name)),
    [name],
  );
  return {
    /** The draft that existed when the form was mounted. */
    draft,
    /** When that draft was saved; null after clearRestored. */
    restored,
    clearRestored: () => setRestored(null),
    /** Saves the unsaved state as the draft; null deletes the draft. */
    store,
  };
}

/**
 * Calls `report` after each render of a form and after each change of a value. The changes are subscribed to, because
 * react-hook-form does not render the form for them.
 */
export function useReportChanges<Values extends FieldValues>(
  { subscribe }: Pick<UseFormReturn<Values>, "subscribe">,
  report: () => void,
): void {
  const latest = useRef(report);
  useEffect(() => {
    latest.current = report;
    report();
  });
  useEffect(
    () => subscribe({ formState: { values: true }, callback: () => latest.current() }),
    [subscribe],
  );
}
