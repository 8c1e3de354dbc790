import { useId, useLayoutEffect, useRef, type RefObject } from "react";
import { fileFacts, type MediaKind } from "@/lib/upload/media-types";

/** A mounted field that accepts pasted files. */
type PasteTarget = {
  id: string;
  element: RefObject<HTMLElement | null>;
  /** The arguments of the most recent render. `full` says that the field has its only file already. */
  latest: RefObject<{ kinds: readonly MediaKind[]; full: boolean; onFiles(files: File[]): void }>;
};

// The targets in document order. They share one listener, because a paste goes to one field only.
const targets: PasteTarget[] = [];

/**
 * Lets a field receive pasted files. A paste goes to the field that contains the focus, else to the one under the pointer,
 * else to the first one that is not full. Fields that do not accept the kind of file are skipped; while a dialog is open,
 * also fields outside it.
 */
export function useFilePaste(
  element: RefObject<HTMLElement | null>,
  kinds: readonly MediaKind[],
  onFiles: (files: File[]) => void,
  full = false,
): void {
  const id = useId();
  const latest = useRef({ kinds, full, onFiles });
  // Layout effects register the field before it is painted, so that the field receives a paste from the start.
  useLayoutEffect(() => {
    latest.current = { kinds, full, onFiles };
  });
  useLayoutEffect(() => {
    const target = { id, element, latest };
    if (targets.length === 0) document.addEventListener("paste", paste);
    targets.push(target);
    return () => {
      targets.splice(targets.indexOf(target), 1);
      if (targets.length === 0) document.removeEventListener("paste", paste);
    };
  }, [id, element]);
}

function paste(event: ClipboardEvent) {
  const { clipboardData, target } = event;
  const files = Array.from(clipboardData?.files ?? []);
  if (!clipboardData || files.length === 0) return;
  // Office programs put a picture of copied text on the clipboard besides the text.
  if (isTextField(target) && clipboardData.types.includes("text/plain")) return;
  const field = targetFor(files, target);
  if (!field) return;
  event.preventDefault();
  field.latest.current.onFiles(files);
}

/** The field that a paste of these files goes to; undefined if no field accepts them. */
function targetFor(files: File[], target: EventTarget | null): PasteTarget | undefined {
  const dialog = [...document.querySelectorAll("[role=dialog]")].at(-1);
  const kinds = new Set(files.map((file) => fileFacts(file)?.kind));
  const fitting = targets
    .filter(({ element }) => !dialog || dialog.contains(element.current))
    .filter(({ latest }) => latest.current.kinds.some((kind) => kinds.has(kind)));
  return (
    fitting.find(({ element }) => target instanceof Node && element.current?.contains(target)) ??
    fitting.find(({ element }) => element.current?.matches(":hover")) ??
    fitting.find(({ latest }) => !latest.current.full)
  );
}

const isTextField = (target: EventTarget | null) =>
  target instanceof HTMLElement && target.matches("input:not([type=file]), textarea");
