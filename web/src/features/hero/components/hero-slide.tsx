import type { Ref } from "react";
import { Video } from "@/components/media/video";
import { Picture } from "@/components/media/picture";
import { useLanguage } from "@/lib/i18n";
import { localText, rowText } from "@/lib/local-text";
import { videoInfo, imageInfo, ratioOf, portraitCrop } from "@/lib/media";
import type { CoverImage } from "@/lib/types";
import type { SlideKind } from "@/features/hero/hero-machine";

type HeroSlideProps = {
  cover: CoverImage;
  kind: SlideKind;
  /** Whether this is the first slide. Its picture loads with priority. */
  first: boolean;
  /**
   * Whether to load what the slide shows at first. For a picture this is the picture. For a video it is the still (the picture that
   * is shown until the video plays), or the first frame if there is no still.
   */
  prepared: boolean;
  /** Whether the page has loaded. No video is requested before that. */
  pageLoaded: boolean;
  videoRef: Ref<HTMLVideoElement>;
  /** The handler of the video's pause event. */
  onPause(): void;
};

/** The media query of tall, narrow windows, such as on phones. */
const PHONE = "(max-aspect-ratio:3/5)";

/** The picture or video of one cover. It fills the slide and is cropped. Everywhere else on the site works are shown whole. */
export function HeroSlide(props: HeroSlideProps) {
  const { cover, kind, first, prepared, pageLoaded, videoRef, onPause } = props;
  const { language } = useLanguage();
  const fillClasses = "absolute inset-0 size-full object-cover object-[50%_62%]";
  if (!prepared) return null;
  const described = localText(language, cover.alt_en, cover.alt_pt);
  const { text: alt, lang } = described.text ? described : rowText(language, cover, "title");
  if (kind === "video") {
    const { image_url: src, video_thumbnail_url: poster } = cover;
    const info = videoInfo(cover, src);
    const hasStill = info?.still || (poster && poster !== src);
    return (
      <Video
        ref={videoRef}
        src={src}
        info={info}
        poster={poster ?? undefined}
        muted
        loop
        preload={hasStill || !pageLoaded ? "none" : "metadata"}
        disablePictureInPicture
        aria-label={alt}
        lang={lang}
        onPause={onPause}
        onError={() => console.error("The cover video could not be loaded", cover.image_url)}
        className={fillClasses}
      />
    );
  }
  const info = imageInfo(cover, cover.image_url);
  return (
    <Picture
      src={cover.image_url}
      alt={alt}
      lang={lang}
      info={info}
      // The picture fills the window above the band, so on a narrow window it is rendered wider than the window.
      sizes={[["", `max(100vw,(100svh - 13rem)*${ratioOf(info)})`]]}
      // With a focus point the browser crops the whole picture around it; the server's crop is centred.
      crop={
        info && !info.focus
          ? portraitCrop(cover.image_url, info, PHONE, "max(100vw,(100svh - 13rem)*.8)")
          : null
      }
      bounds={[640, Infinity]}
      fit="cover"
      priority={first}
      eager
      // If the picture cannot be shown, the neutral colour of the carousel is seen instead of a placeholder.
      onMissing={() => undefined}
      className={fillClasses}
    />
  );
}
