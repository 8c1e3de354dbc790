import { useEffect, useId, useRef, type RefObject } from "react";
import { fileFacts, type MediaKind } from "@/lib/upload/media-types";

type Place = {
  id: string;
  element: RefObject<HTMLElement | null>;
  latest: RefObject<{ kinds: readonly MediaKind[]; full: boolean; onFiles(files: File[]): void }>;
};

// In the order of the page. One listener for all: a paste belongs to one place only.
const places: Place[] = [];

/**
 * Files from the clipboard for a field: when the pointer or the focus is in it, or when it is the first one on the page
 * (within a dialog, of the dialog) that takes such files and is not full.
 */
export function useFilePaste(
  element: RefObject<HTMLElement | null>,
  kinds: readonly MediaKind[],
  onFiles: (files: File[]) => void,
  full = false,
): void {
  const id = useId();
  const latest = useRef({ kinds, full, onFiles });
  useEffect(() => {
    latest.current = { kinds, full, onFiles };
  });
  useEffect(() => {
    const place = { id, element, latest };
    if (places.length === 0) document.addEventListener("paste", paste);
    places.push(place);
    return () => {
      places.splice(places.indexOf(place), 1);
      if (places.length === 0) document.removeEventListener("paste", paste);
    };
  }, [id, element]);
}

function paste(event: ClipboardEvent) {
  const { clipboardData, target } = event;
  const files = Array.from(clipboardData?.files ?? []);
  if (!clipboardData || files.length === 0) return;
  // Office programs put a picture of the text beside the text.
  if (isTextField(target) && clipboardData.types.includes("text/plain")) return;
  const place = placeFor(files, target);
  if (!place) return;
  event.preventDefault();
  place.latest.current.onFiles(files);
}

function placeFor(files: File[], target: EventTarget | null): Place | undefined {
  const dialog = [...document.querySelectorAll("[role=dialog]")].at(-1);
  const kinds = new Set(files.map((file) => fileFacts(file)?.kind));
  const fitting = places
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
