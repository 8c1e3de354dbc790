import { useRef, useState } from "react";
import { Film as VideoIcon, Image as ImageIcon } from "lucide-react";
import { coverKind } from "@/features/admin-covers/schema";
import { Video } from "@/components/media/video";
import { Picture } from "@/components/media/picture";
import { FocusPicker } from "@/components/upload/focus-picker";
import { useT } from "@/lib/i18n";
import { videoInfo, imageInfo } from "@/lib/media";
import { queryKeys } from "@/lib/query-keys";
import type { CoverImage } from "@/lib/types";
import { useReducedMotion } from "@/lib/use-media-query";
import { cn } from "@/lib/cn";

type CoverPreviewProps = {
  cover: CoverImage;
  /**
   * For a cover that was added on this page: the object URL of its picture, shown until the stored picture has loaded, or of its
   * video's still (the poster picture).
   */
  preview?: string | null;
};

/**
 * The picture or video of a cover (at the top of the home page) in the cover's card, cropped to 16:9. A video plays muted while it is
 * hovered or focused. On a picture, the owner sets the focus point (the point that stays visible when the picture is cropped).
 */
export function CoverPreview({ cover, preview }: CoverPreviewProps) {
  const t = useT();
  const video = useRef<HTMLVideoElement>(null);
  const [pictureLoaded, setPictureLoaded] = useState(false);
  const reducedMotion = useReducedMotion();
  const kind = coverKind(cover);
  const title = cover.title || t("gallery.untitled");
  const pictureInfo = imageInfo(cover, cover.image_url);
  const videoMetadata = videoInfo(cover, cover.image_url);
  const KindIcon = kind === "video" ? VideoIcon : ImageIcon;
  const mediaClassName = cn(
    "size-full object-cover object-[50%_62%] transition-opacity duration-200",
    !cover.is_active && "opacity-55 grayscale",
  );

  function play() {
    if (!reducedMotion)
      video.current?.play().catch((error: unknown) => {
        // play() rejects with an AbortError if the pointer leaves, and so pauses the video, before the video has begun.
        if (error instanceof DOMException && error.name === "AbortError") return;
        console.warn("The video could not be previewed", error);
      });
  }

  return (
    <div
      className="relative aspect-video bg-[#151b2a]"
      onPointerEnter={play}
      onPointerLeave={() => video.current?.pause()}
    >
      {kind === "video" ? (
        <Video
          // Without a still, loads the metadata, so that the browser shows the first frame.
          preload={videoMetadata?.poster ? "none" : "metadata"}
          ref={video}
          info={videoMetadata}
          cssWidth={Math.min(640, innerWidth)}
          src={cover.image_url}
          poster={preview ?? cover.video_thumbnail_url ?? undefined}
          muted
          loop
          tabIndex={0}
          aria-label={t("gallery.video", { title })}
          onFocus={play}
          onBlur={() => video.current?.pause()}
          className={cn(mediaClassName, "focus-visible:-outline-offset-3")}
        />
      ) : (
        <>
          {preview && !pictureLoaded && (
            <img src={preview} alt="" className={cn(mediaClassName, "absolute inset-0")} />
          )}
          <Picture
            src={cover.image_url}
            alt={title}
            info={pictureInfo}
            sizes={[
              ["(min-width:80rem)", "31vw"],
              ["(min-width:48rem)", "45vw"],
              ["", "92vw"],
            ]}
            fit="cover"
            className={cn(mediaClassName, preview && !pictureLoaded && "opacity-0")}
            onSize={() => setPictureLoaded(true)}
          />
          {pictureInfo && (
            <FocusPicker url={cover.image_url} info={pictureInfo} queryKey={queryKeys.covers.all} />
          )}
        </>
      )}
      <span className="text-badge pointer-events-none absolute top-3 left-3 flex min-h-7 items-center gap-1.5 rounded-sm bg-[rgb(9_13_28/.78)] px-2.5 font-[520] text-[#fafaf8]">
        <KindIcon aria-hidden="true" size={18} strokeWidth={1.5} />
        {t(kind === "video" ? "covers.video" : "covers.image")}
      </span>
    </div>
  );
}
