import { useRef, useState, type DragEvent } from "react";

const hasFiles = (event: DragEvent) => event.dataTransfer.types.includes("Files");

/** Makes an element a place to drop files on; `over` is true while files hover above it. */
export function useFileDrop(onFiles: (files: File[]) => void, multiple = false) {
  // Enter and leave also fire for children; only the balance tells whether the pointer is inside.
  const depth = useRef(0);
  const [over, setOver] = useState(false);

  function track(change: number) {
    depth.current = Math.max(0, depth.current + change);
    setOver(depth.current > 0);
  }

  const dropTarget = {
    onDragEnter(event: DragEvent) {
      if (!hasFiles(event)) return;
      event.preventDefault();
      track(1);
    },
    onDragOver(event: DragEvent) {
      if (!hasFiles(event)) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = "copy";
    },
    onDragLeave(event: DragEvent) {
      if (hasFiles(event)) track(-1);
    },
    onDrop(event: DragEvent) {
      if (!hasFiles(event)) return;
      event.preventDefault();
      track(-depth.current);
      const files = Array.from(event.dataTransfer.files);
      onFiles(multiple ? files : files.slice(0, 1));
    },
  };

  return { over, dropTarget };
}
