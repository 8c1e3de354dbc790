import { useRef } from "react";
import { Camera } from "lucide-react";
import { useT } from "@/lib/i18n";
import type { MediaKind } from "@/lib/upload/media-types";
import { useMediaQuery } from "@/lib/use-media-query";

type CameraButtonProps = {
  /** Whether the camera takes a photo or a video. */
  kind: MediaKind;
  /** The label of the field. The accessible name of the button begins with it. */
  label: string;
  onFiles(files: File[]): void;
};

/**
 * A button that opens the camera. It is rendered only on devices that are operated by touch. A field needs it beside the button that
 * chooses files, because an input with `capture` opens only the camera.
 */
export function CameraButton({ kind, label, onFiles }: CameraButtonProps) {
  const t = useT();
  const input = useRef<HTMLInputElement>(null);
  const isTouchDevice = useMediaQuery("(pointer: coarse)");
  if (!isTouchDevice) return null;
  const text = t(kind === "image" ? "upload.takePhoto" : "upload.film");
  return (
    <>
      <button
        type="button"
        aria-label={`${label}: ${text}`}
        onClick={() => input.current?.click()}
        className="label-text text-indigo hover:bg-indigo-tint mt-1 flex min-h-11 items-center gap-2 rounded-sm px-2"
      >
        <Camera aria-hidden="true" size={20} strokeWidth={1.75} />
        {text}
      </button>
      <input
        ref={input}
        type="file"
        hidden
        // Android opens the camera directly only for image/* or video/*, not for a list of types.
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
