import { useId, useLayoutEffect, useRef, type RefObject } from "react";
import { fileTypeOf, type MediaKind } from "@/lib/upload/media-types";

/** A mounted field that accepts pasted files. */
type PasteField = {
  id: string;
  element: RefObject<HTMLElement | null>;
  /** The arguments of useFilePaste in the most recent render. */
  latest: RefObject<{ kinds: readonly MediaKind[]; isFull: boolean; onFiles(files: File[]): void }>;
};

// The fields in the order in which they were mounted. All fields share one listener, because a paste goes to one field only.
const fields: PasteField[] = [];

/**
 * Lets a field receive pasted files. A paste goes to the first of these that exists:
 * 1. the field that contains the focus
 * 2. the field under the pointer
 * 3. the first field that is not full
 * Fields that do not accept the kind of file, and inert fields, such as those of a form that is being saved, are skipped. While a dialog is
 * open, fields outside the dialog are skipped.
 * `isFull` says whether the field takes only one file and already has one.
 */
export function useFilePaste(
  element: RefObject<HTMLElement | null>,
  kinds: readonly MediaKind[],
  onFiles: (files: File[]) => void,
  { isFull = false }: { isFull?: boolean } = {},
): void {
  const id = useId();
  const latest = useRef({ kinds, isFull, onFiles });
  // Layout effects register the field before it is painted, so that the field receives a paste from the start.
  useLayoutEffect(() => {
    latest.current = { kinds, isFull, onFiles };
  });
  useLayoutEffect(() => {
    const field = { id, element, latest };
    if (fields.length === 0) document.addEventListener("paste", paste);
    fields.push(field);
    return () => {
      fields.splice(fields.indexOf(field), 1);
      if (fields.length === 0) document.removeEventListener("paste", paste);
    };
  }, [id, element]);
}

/** Passes pasted files to a field. */
function paste(event: ClipboardEvent) {
  const { clipboardData, target } = event;
  const files = Array.from(clipboardData?.files ?? []);
  if (!clipboardData || files.length === 0) return;
  // Office programs put a picture of copied text on the clipboard, in addition to the text.
  if (isTextField(target) && clipboardData.types.includes("text/plain")) return;
  const field = fieldFor(files, target);
  if (!field) return;
  event.preventDefault();
  field.latest.current.onFiles(files);
}

/** The field that a paste of these files goes to; undefined if no field accepts them. */
function fieldFor(files: File[], target: EventTarget | null): PasteField | undefined {
  const dialog = [...document.querySelectorAll("[role=dialog]")].at(-1);
  const kinds = new Set(files.map((file) => fileTypeOf(file)?.kind));
  const accepting = fields
    .filter(({ element }) => !dialog || dialog.contains(element.current))
    .filter(({ element }) => !element.current?.closest("[inert]"))
    .filter(({ latest }) => latest.current.kinds.some((kind) => kinds.has(kind)));
  return (
    accepting.find(({ element }) => target instanceof Node && element.current?.contains(target)) ??
    accepting.find(({ element }) => element.current?.matches(":hover")) ??
    accepting.find(({ latest }) => !latest.current.isFull)
  );
}

const isTextField = (target: EventTarget | null) =>
  target instanceof HTMLElement && target.matches("input:not([type=file]), textarea");
