import { useRef, useState } from "react";
import { ImagePlus } from "lucide-react";
import { TileButton } from "@/components/upload/media-tile";
import { useUploadToasts } from "@/components/upload/use-upload-toasts";
import { useT } from "@/lib/i18n";
import { stackedToast } from "@/lib/toast";
import { acceptOf, IMAGE_ONLY, refusalOf } from "@/lib/upload/media-types";
import { RefusedFileError } from "@/lib/upload/upload-error";

type StillButtonProps = {
  /** Public URL of the video. */
  videoUrl: string;
  /** Stores a picture as the still of the video. */
  upload(videoUrl: string, picture: File): Promise<void>;
  /** Called with the chosen picture after it is stored. */
  onStored?(picture: File): void;
  /** Shows a text instead of an icon. Used for videos that have no still. */
  withText?: boolean;
};

/**
 * A button to choose a picture file as the still of a video: the picture shown until the video plays. The still is stored
 * immediately.
 */
export function StillButton({ videoUrl, upload, onStored, withText = false }: StillButtonProps) {
  const t = useT();
  const showProblem = useUploadToasts();
  const input = useRef<HTMLInputElement>(null);
  const [busy, setBusy] = useState(false);

  async function store(picture: File) {
    const refusal = refusalOf(picture, IMAGE_ONLY);
    if (refusal) return showProblem({ reason: refusal, name: picture.name });
    setBusy(true);
    try {
      await upload(videoUrl, picture);
      stackedToast({ title: t("upload.stillStored") });
      onStored?.(picture);
    } catch (error) {
      if (error instanceof RefusedFileError)
        showProblem({ reason: error.reason, name: picture.name });
      else showProblem({ reason: "failed", kind: "image", error });
    } finally {
      setBusy(false);
    }
  }

  const choose = () => input.current?.click();
  return (
    <>
      {withText ? (
        <button
          type="button"
          disabled={busy}
          onClick={choose}
          className="border-line text-danger hover:bg-danger-tint min-h-11 w-full border-t px-2 py-1.5 text-left text-[.9375rem] leading-[1.25] font-[560] focus-visible:-outline-offset-3"
        >
          {busy ? t("common.saving") : t("upload.chooseStill")}
        </button>
      ) : (
        <TileButton label={t("upload.chooseStill")} disabled={busy} onClick={choose}>
          <ImagePlus aria-hidden="true" size={19} strokeWidth={1.75} />
        </TileButton>
      )}
      <input
        ref={input}
        type="file"
        hidden
        accept={acceptOf(IMAGE_ONLY)}
        onChange={(event) => {
          const picture = event.target.files?.[0];
          event.target.value = "";
          if (picture) void store(picture);
        }}
      />
    </>
  );
}
