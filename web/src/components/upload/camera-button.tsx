import { useRef } from "react";
import { Camera } from "lucide-react";
import { useT } from "@/lib/i18n";
import type { MediaKind } from "@/lib/upload/media-types";
import { useMediaQuery } from "@/lib/use-media-query";

type CameraButtonProps = {
  kind: MediaKind;
  /** The field it belongs to, read out before the button's own words. */
  label: string;
  onFiles(files: File[]): void;
};

/**
 * Straight into the camera, on devices held in the hand. Beside the ordinary file button, never instead of it: an input
 * with `capture` hides the photo library.
 */
export function CameraButton({ kind, label, onFiles }: CameraButtonProps) {
  const t = useT();
  const input = useRef<HTMLInputElement>(null);
  const handheld = useMediaQuery("(pointer: coarse)");
  if (!handheld) return null;
  const text = t(kind === "image" ? "upload.takePhoto" : "upload.film");
  return (
    <>
      <button
        type="button"
        aria-label={`${label}: ${text}`}
        onClick={() => input.current?.click()}
        className="label-text text-anil hover:bg-anil-tint mt-1 flex min-h-11 items-center gap-2 rounded-sm px-2"
      >
        <Camera aria-hidden="true" size={20} strokeWidth={1.75} />
        {text}
      </button>
      <input
        ref={input}
        type="file"
        hidden
        // Android opens the camera at once only for a whole kind.
        accept={`${kind}/*`}
        capture="environment"
        onChange={(event) => {
          onFiles(Array.from(event.target.files ?? []));
          event.target.value = "";
        }}
      />
    </>
  );
}
