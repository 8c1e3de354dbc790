import { useCallback, useEffect, useRef, useState } from "react";
import { useAuth } from "@/lib/auth";
import { lockSavedDraft, lockNewDraft, hasLocks, type DraftLock } from "@/lib/draft-lock";
import { deleteFiles } from "@/lib/draft-files";
import { draftName, loadDraft, draftTime, deleteDraft, saveDraft } from "@/lib/drafts";

/**
 * The props of a dialog whose form has a draft: unsaved values that the browser stores (lib/drafts.ts). useDraftDialog returns them,
 * and the component DraftDialog renders the dialog. `Start` is the type of the form's initial state.
 */
export type DraftDialogProps<Start> = {
  /** The initial state of the form: a stored row, a new row, or the restored draft. */
  start: Start;
  /** The name of the form's draft. */
  draft: string;
  open: boolean;
  /** The form calls this at each change with its unsaved state, or with null if nothing is unsaved. */
  onChanged(unsaved: Start | null): void;
  /** Opens the dialog anew with the newer version after a conflict. */
  onLoadNewer(start: Start): void;
  /** Whether the draft exists now. The files that the form has uploaded then belong to the draft. */
  hasDraft(): boolean;
  onClose(): void;
  /** When the restored draft was saved; null if the form does not show a restored draft. */
  draftSavedAt: Date | null;
};

/** The props of the form in the dialog. `onCancel` closes the dialog, after a question if something is unsaved. */
export type DraftFormProps<Start> = Pick<
  DraftDialogProps<Start>,
  "start" | "draft" | "onChanged" | "onLoadNewer" | "hasDraft"
> & { onCancel(): void; onSaved(): void };

/** The state of the dialog. `round` counts how often the dialog was opened. DraftDialogProps explains the other fields. */
type DialogState<Start> = {
  start: Start;
  draft: string;
  open: boolean;
  round: number;
  draftSavedAt: Date | null;
};

/**
 * The state of a dialog with a form whose unsaved values are saved as a draft. If there is a draft when the page opens, the dialog
 * opens with the draft. `form` is the name of the form, and `empty` is the initial state for a new row. The caller uses `round` as
 * the key of the dialog, so that each opening mounts a new form.
 */
export function useDraftDialog<Start>(form: string, empty: Start) {
  const { user } = useAuth();
  // The name of the form's draft in the first tab. Other tabs use names made from it (lib/draft-lock.ts).
  const name = draftName(user?.id, form);
  const [shown, setShown] = useState<DialogState<Start>>(() =>
    // Another tab may have the draft open. If the browser has locks, the effect below restores the draft once it holds the
    // lock.
    hasLocks() ? closed(name, empty) : withDraft(closed(name, empty), name),
  );
  // True while the dialog fades out. The form still reports changes then, but these changes must not be saved.
  const isClosing = useRef(false);
  const heldLock = useRef<DraftLock>(null);
  const isUnmounted = useRef(false);

  // Restores a saved draft that no other tab has open, and releases its lock at unmount.
  useEffect(() => {
    if (!hasLocks()) return;
    isUnmounted.current = false;
    let isCancelled = false;
    void lockSavedDraft(name).then((lock) => {
      if (!lock) return;
      if (isCancelled || heldLock.current || loadDraft(lock.name) === undefined) {
        lock.release();
        return;
      }
      heldLock.current = lock;
      setShown((now) => withDraft(now, lock.name));
    });
    return () => {
      isCancelled = isUnmounted.current = true;
      heldLock.current?.release();
      heldLock.current = null;
    };
  }, [name]);

  const open = useCallback(
    (start: Start) => {
      isClosing.current = false;
      const begin = (draft: string) =>
        setShown(({ round }) => ({
          start,
          draft,
          open: true,
          round: round + 1,
          draftSavedAt: null,
        }));
      if (heldLock.current) {
        // The new state replaces the draft that the dialog has shown so far.
        void deleteFiles(heldLock.current.name);
        begin(heldLock.current.name);
      } else if (hasLocks()) {
        void lockNewDraft(name).then((lock) => {
          if (heldLock.current || isUnmounted.current) {
            lock.release();
            return;
          }
          heldLock.current = lock;
          begin(lock.name);
        });
      } else {
        begin(name);
      }
    },
    [name],
  );
  const { draft } = shown;
  const reportChange = useCallback(
    (unsaved: Start | null) => {
      if (isClosing.current) return;
      if (unsaved) saveDraft(draft, unsaved);
      else deleteDraft(draft);
    },
    [draft],
  );
  const close = useCallback(() => {
    isClosing.current = true;
    deleteDraft(draft);
    heldLock.current?.release();
    heldLock.current = null;
    setShown((now) => ({ ...now, open: false }));
  }, [draft]);

  const hasDraft = useCallback(() => loadDraft(draft) !== undefined, [draft]);

  const { round, draftSavedAt, start } = shown;
  return {
    open,
    /** The key of the dialog. */
    round,
    dialog: {
      start,
      draft,
      open: shown.open,
      draftSavedAt,
      onChanged: reportChange,
      onLoadNewer: open,
      hasDraft,
      onClose: close,
    } satisfies DraftDialogProps<Start>,
  };
}

const closed = <Start>(draft: string, start: Start): DialogState<Start> => ({
  start,
  draft,
  open: false,
  round: 0,
  draftSavedAt: null,
});

/** Opens the dialog with the saved draft, if there is one. */
function withDraft<Start>(now: DialogState<Start>, draft: string): DialogState<Start> {
  const start = loadDraft(draft) as Start | undefined;
  if (start === undefined) return now;
  const { round } = now;
  return { start, draft, open: true, round: round + 1, draftSavedAt: draftTime(draft) ?? null };
}

/** Asks before a dialog with a draft is closed with unsaved changes. `discardDialog` has the props of a DiscardDialog. */
export function useDiscardQuestion<Start extends { unsaved?: boolean }>({
  start,
  onChanged,
  onClose,
}: Pick<DraftDialogProps<Start>, "start" | "onChanged" | "onClose">) {
  const changed = useRef(start.unsaved);
  const [asking, setAsking] = useState(false);

  const reportChange = useCallback(
    (unsaved: Start | null) => {
      changed.current = unsaved !== null;
      onChanged(unsaved);
    },
    [onChanged],
  );

  const askOrClose = useCallback(() => {
    if (changed.current) setAsking(true);
    else onClose();
  }, [onClose]);

  const discardDialog = {
    open: asking,
    onKeep: () => setAsking(false),
    onDiscard: () => {
      setAsking(false);
      onClose();
    },
  };
  return { reportChange, askOrClose, discardDialog };
}
