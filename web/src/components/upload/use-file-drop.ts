import { useRef, useState, type DragEvent } from "react";

const hasFiles = (event: DragEvent) => event.dataTransfer.types.includes("Files");

/**
 * Makes an element accept dropped files. The caller spreads `dropTarget` into the element; `isDraggedOver` is true while files are
 * dragged over the element. Without `multiple` only the first file is passed to `onFiles`.
 */
export function useFileDrop(
  onFiles: (files: File[]) => void,
  { multiple = false }: { multiple?: boolean } = {},
) {
  // The number of dragenter events minus the number of dragleave events. These events also fire for child elements. The pointer is
  // inside the element while the number is above 0.
  const depth = useRef(0);
  const [isDraggedOver, setDraggedOver] = useState(false);

  function track(change: number) {
    depth.current = Math.max(0, depth.current + change);
    setDraggedOver(depth.current > 0);
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

  return { isDraggedOver, dropTarget };
}
