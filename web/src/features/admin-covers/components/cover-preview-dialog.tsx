import { coverKind } from "@/features/admin-covers/schema";
import { Video } from "@/components/media/video";
import { Picture } from "@/components/media/picture";
import { buttonClasses } from "@/components/ui/button-classes";
import { DialogClose, DialogContent, DialogRoot, DialogTitle } from "@/components/ui/dialog";
import { cn } from "@/lib/cn";
import { useT } from "@/lib/i18n";
import { imageInfo } from "@/lib/media";
import type { CoverImage } from "@/lib/types";
import { useReducedMotion } from "@/lib/use-media-query";

type CoverPreviewDialogProps = {
  /** The cover with the texts of the form, saved or not. */
  cover: CoverImage;
  open: boolean;
  onClose(): void;
};

/**
 * A dialog that shows how a cover (a large picture or video) looks in the hero (the first section of the home page): in one frame as
 * on a wide screen, and in another as on a phone.
 */
export function CoverPreviewDialog({ cover, open, onClose }: CoverPreviewDialogProps) {
  const t = useT();
  return (
    <DialogRoot
      open={open}
      onOpenChange={(isOpen) => {
        if (!isOpen) onClose();
      }}
    >
      <DialogContent className="max-w-[1120px] p-5 sm:p-8">
        <DialogTitle className="pr-12 text-[1.75rem] leading-[1.1] font-[310] sm:text-[2rem]">
          {t("covers.previewTitle")}
        </DialogTitle>
        {!cover.is_active && <p className="text-ink2 mt-2">{t("covers.previewInactive")}</p>}
        <div className="mt-6 grid items-end gap-6 md:grid-cols-[minmax(0,1fr)_220px]">
          {/* Hidden on phones, where this frame would be smaller than its text. */}
          <HeroFrame
            cover={cover}
            label={t("covers.previewWide")}
            className="aspect-[16/10]"
            figureClassName="max-sm:hidden"
          />
          <HeroFrame
            cover={cover}
            label={t("covers.previewPhone")}
            className="aspect-[9/18] w-[220px] max-w-full"
          />
        </div>
        <DialogClose />
      </DialogContent>
    </DialogRoot>
  );
}

type HeroFrameProps = {
  cover: CoverImage;
  label: string;
  /** Classes that set the shape of the frame. */
  className: string;
  /** Classes of the figure that contains the frame and its label. */
  figureClassName?: string;
};

/** A cover in the layout of the hero. Its sizes depend on the width of the frame instead of the screen. */
function HeroFrame({ cover, label, className, figureClassName }: HeroFrameProps) {
  const t = useT();
  const reducedMotion = useReducedMotion();
  const mediaClassName = "absolute inset-0 size-full object-cover object-[50%_62%]";
  return (
    <figure className={figureClassName}>
      <div
        className={cn(
          "bg-band @container grid grid-rows-[minmax(0,1fr)_auto] overflow-hidden",
          className,
        )}
      >
        <div className="bg-neutral relative">
          {coverKind(cover) === "video" ? (
            <Video
              src={cover.image_url}
              poster={cover.video_thumbnail_url ?? undefined}
              muted
              loop
              autoPlay={!reducedMotion}
              aria-label={t("gallery.video", { title: cover.title || t("gallery.untitled") })}
              className={mediaClassName}
            />
          ) : (
            <Picture
              src={cover.image_url}
              alt=""
              info={imageInfo(cover, cover.image_url)}
              fit="cover"
              eager
              className={mediaClassName}
            />
          )}
        </div>
        <div className="band grid gap-3 p-[6cqw] wrap-anywhere @sm:grid-cols-[minmax(0,1fr)_auto] @sm:items-end @sm:p-[2.6cqw]">
          <div>
            {cover.title && (
              <p className="text-[10cqw] leading-[1.02] font-[250] tracking-[-.022em] text-balance @sm:text-[5cqw]">
                {cover.title}
              </p>
            )}
            {cover.description && (
              <p className="text-on-band-muted mt-2 line-clamp-4 text-[max(.9375rem,1.4cqw)] leading-[1.4]">
                {cover.description}
              </p>
            )}
          </div>
          {/* Looks like the hero's link, but is none. */}
          <span aria-hidden="true" className={buttonClasses({ variant: "white", size: "sm" })}>
            {t("hero.exploreGallery")}
          </span>
        </div>
      </div>
      <figcaption className="text-ink2 mt-2 text-sm">{label}</figcaption>
    </figure>
  );
}
