import { useCallback, useRef, useState } from "react";
import { useAuth } from "@/lib/auth";
import { draftName, draftOf, dropDraft, keepDraft } from "@/lib/drafts";

/** What a dialog with such a form takes. */
export type DraftDialogProps<Start> = {
  /** Read once when the dialog opens. */
  start: Start;
  open: boolean;
  /** Told at each change what would be lost if the page went away, or null when nothing would. */
  onChanged(unsaved: Start | null): void;
  onNewer(start: Start): void;
  drafted(): boolean;
  onClose(): void;
};

type Shown<Start> = { start: Start; open: boolean; round: number };

/**
 * A dialog with a form whose unsaved words survive the page: it opens by itself when some were kept. The round is
 * the form's key: each opening starts clean, and a list that is read again never resets a form.
 */
export function useDraftDialog<Start>(form: string, empty: Start) {
  const { user } = useAuth();
  const name = draftName(user?.id, form);
  const [shown, setShown] = useState<Shown<Start>>(() => {
    const kept = draftOf(name) as Start | undefined;
    return { start: kept ?? empty, open: kept !== undefined, round: 0 };
  });
  // While the dialog fades away its form still speaks; what it says then is no draft.
  const closing = useRef(false);

  const open = useCallback((start: Start) => {
    closing.current = false;
    setShown(({ round }) => ({ start, open: true, round: round + 1 }));
  }, []);
  const note = useCallback(
    (unsaved: Start | null) => {
      if (closing.current) return;
      if (unsaved) keepDraft(name, unsaved);
      else dropDraft(name);
    },
    [name],
  );
  const close = useCallback(() => {
    closing.current = true;
    dropDraft(name);
    setShown((now) => ({ ...now, open: false }));
  }, [name]);

  const drafted = useCallback(() => draftOf(name) !== undefined, [name]);

  return { ...shown, show: open, note, close, drafted };
}

/** Closing such a dialog asks first while something would be lost; `question` goes to a DiscardDialog. */
export function useDiscardQuestion<Start extends { unsaved?: boolean }>({
  start,
  onChanged,
  onClose,
}: Pick<DraftDialogProps<Start>, "start" | "onChanged" | "onClose">) {
  const changed = useRef(start.unsaved);
  const [asking, setAsking] = useState(false);

  const note = useCallback(
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

  const question = {
    open: asking,
    onKeep: () => setAsking(false),
    onDiscard: () => {
      setAsking(false);
      onClose();
    },
  };
  return { note, askOrClose, question };
}
